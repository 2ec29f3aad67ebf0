"""Where moving elements is the task's work: what a reference only moves, and copies that move. In children only.

A wrapper may copy for layout, because a kernel may want another one. But where the reference only transposes, repeats
or converts, a copy of a transposed view is all there is to do, whatever kernels run before and after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from kdata.verify.candidate.operators import ALLOCATION, COPIES, MOVES, READS, VIEWS
from kdata.verify.exchange.guards import storage_of
from kdata.verify.reference.probe import PRODUCTS, SUMS

COPYING = COPIES - READS
PLAIN = VIEWS | COPYING | MOVES | ALLOCATION
# What a copy does by itself of such work: fills a part, spreads what is one, folds dimensions into others.
KINDS: dict[str, Callable[[Tensor, Tensor], bool]] = {
    "parts": lambda source, result: _room(result) > result.numel(),
    "spreads": lambda source, result: any(s == 0 and n > 1 for n, s in zip(source.shape, source.stride(), strict=True)),
    "folds": lambda source, result: source.ndim > FOLDED and _steps(source) != _steps(result),
}
SAID = {"parts": "fills a part", "spreads": "spreads", "folds": "folds"}
FOLDED = 4  # dimensions of a tensor as layers take them
BY_KIND = {
    "parts": frozenset({"cat", "stack", "hstack", "vstack", "roll", "flip", "constant_pad_nd", "slice_scatter"}),
    "spreads": frozenset({"repeat", "repeat_interleave", "tile"}) | {n for n in MOVES if "nearest" in n},
    "folds": frozenset({"pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "native_channel_shuffle", "im2col"}),
}
# By indices, which no copy follows: what lays elements otherwise beside such does none of the work.
SELECTS = frozenset({"gather", "index", "index_select", "take", "take_along_dim", "embedding"})


class Provenance(TorchDispatchMode):
    """Tells what is computed from what is moved only, while a reference runs."""

    def __init__(self, given: Sequence[Tensor]) -> None:
        super().__init__()
        self._given = {_memory(t) for t in given}
        self._computed: set[int] = set()
        self._held: list[Tensor] = []  # no address comes twice
        self._moves = self._converts = self._gathers = self._selects = False
        self._kinds: set[str] = set()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        name = str(function).split(".")[1]
        given = [t for t in tree_leaves([args, kwargs]) if _strided(t)]
        made = [t for t in tree_leaves(out) if _strided(t)]
        if name not in PLAIN or any(_memory(t) in self._computed for t in given):
            self._computed |= {_memory(t) for t in made}
        elif name in COPYING and given and made:
            self._converts |= given[-1].dtype != made[0].dtype
        self._moves |= name in COPYING | MOVES
        self._selects |= name in SELECTS
        self._gathers |= any(part in name for part in (*SUMS, *PRODUCTS))
        self._kinds |= {kind for kind, names in BY_KIND.items() if name in names}
        self._held += made
        return out

    def moved(self, outputs: Any) -> dict[str, Any]:
        """Places of tensors among the outputs that are moved only, and whether their dtypes are changed; {}: none.

        Where each element is computed by itself beside, the kinds of moving that there are.
        """
        leaves = tree_leaves(outputs)
        places = [n for n, leaf in enumerate(leaves) if _strided(leaf) and leaf.numel() > 1
                  and _memory(leaf) not in self._computed | self._given]  # fmt: skip
        whole = len(places) == sum(isinstance(leaf, Tensor) for leaf in leaves)
        if places and self._moves and not self._selects:
            return {"places": places, "whole": whole, "converts": self._converts, "kinds": []}
        alone = self._kinds and not self._gathers  # with what is done to each element: half of the work
        return {"places": [], "whole": True, "converts": False, "kinds": sorted(self._kinds)} if alone else {}


class Layout:
    """What copies in a call of a candidate do what its task does."""

    def __init__(self, told: dict[str, Any], held: Sequence[Tensor]) -> None:
        """``told``: elements (of answers that are moved only), converts, kinds (of copies); none for all of them."""
        self._kinds: list[str] = told["kinds"]
        self._elements: list[int] = told["elements"]
        self._converts: bool = told["converts"]
        self._held = {_place(t) for t in held if _strided(t)}

    def done_by(self, name: str, args: Sequence[Any], result: Tensor) -> str:
        """What a copy does of the task's work; "" for nothing."""
        tensors = [t for t in args if _strided(t)]
        if not tensors or not _strided(result) or result.numel() < 2:
            return ""
        source = tensors[-1]
        if self._elements and not {result.numel(), _room(result)} & set(self._elements):
            return ""
        if self._converts and source.dtype != result.dtype:
            return f"aten.{name} to {str(result.dtype)[6:]}"
        if self._kinds:
            done = next((kind for kind in self._kinds if KINDS[kind](source, result)), "")
            return f"aten.{name} that {SAID[done]}" if done else ""
        partly = name == "copy_" and (_room(result) > result.numel() or _room(source) > source.numel())
        if _place(source) in self._held and not partly:
            return ""  # what is given in another layout is mostly wanted in a plain one
        return f"aten.{name} of another layout" if partly or _steps(source) != _steps(result) else ""


def _strided(value: Any) -> bool:
    return isinstance(value, Tensor) and value.layout is torch.strided


def _memory(tensor: Tensor) -> int:
    return storage_of(tensor).data_ptr()


def _room(tensor: Tensor) -> int:
    return storage_of(tensor).nbytes() // tensor.element_size()


def _place(tensor: Tensor) -> tuple[Any, ...]:
    return tensor.data_ptr(), tuple(tensor.shape), tensor.stride()


def _steps(tensor: Tensor) -> tuple[Any, ...]:
    """Sizes and strides of the dimensions in which there is more than one element."""
    return tuple((n, s) for n, s in zip(tensor.shape, tensor.stride(), strict=True) if n > 1)
