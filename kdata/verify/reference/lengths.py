"""Which inputs are lengths: integers that a reference compares with positions, of which none is beyond the last.

And which say where packed sequences end.  A kernel reads as many elements as they say: where they say more than there
are, it reads what is not there, and so do those of every library.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from kdata.verify.reference.values import ends, integral

COMPARES = frozenset({"lt", "le", "gt", "ge"})
COPIES = frozenset({"_to_copy", "clone"})


class Lengths(TorchDispatchMode):
    """Watches one call of a reference."""

    def __init__(self, inputs: list[Any]) -> None:
        super().__init__()
        tensors = [t for t in tree_leaves(inputs) if isinstance(t, Tensor)]
        self._fake = any(isinstance(t, FakeTensor) for t in tensors)
        self._held = {n: t for n, t in enumerate(tree_leaves(inputs)) if _real(t)}
        sizes = {size for t in tensors for size in t.shape}
        self._ends = {n for n, t in self._held.items() if ends(t, sizes)}  # as they are before the call
        rows = {len(t) for t in tensors if t.ndim > 1}
        self._groups = {n for n in self._ends if rows & _sequences(self._held[n])}
        self._places = {_storage(t): n for n, t in self._held.items()}
        self._copies: list[Tensor] = []  # which keep their storages
        self._most: dict[int, int] = {}

    @property
    def found(self) -> frozenset[int]:
        """The places of lengths among the leaves of the inputs."""
        return frozenset(self.room)

    @property
    def room(self) -> dict[int, int]:
        """The places of lengths among the leaves of the inputs, each with how many positions there are."""
        return {n: most for n, most in self._most.items() if int(self._held[n].max()) <= most}

    @property
    def extents(self) -> frozenset[tuple[str, int]] | None:
        """Lengths and ends, by their kinds and places; None where the inputs have no values.

        Ends are named once more where another input has something for each sequence: a matrix for each group of rows.
        """
        if self._fake:
            return None
        places = {"end": self._ends, "group": self._groups, "length": self.found}
        return frozenset((kind, n) for kind, found in places.items() for n in found)

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        name = str(function).split(".")[1]
        if name in COPIES and _real(args[0]) and _real(out) and _storage(args[0]) in self._places:
            self._places[_storage(out)] = self._places[_storage(args[0])]
            self._copies.append(out)
        if name in COMPARES and len(args) == 2 and all(map(_real, args)):
            for one, other in (args, args[::-1]):
                place = self._places.get(_storage(one))
                if place is not None and _storage(other) not in self._places and _positions(other):
                    self._most[place] = max(self._most.get(place, 0), other.numel())
        return out


def _sequences(found: Tensor) -> set[int]:
    """How many sequences end there, or one less where the first number may say where the first one begins."""
    return {len(found), len(found) - int(int(found[0]) == 0)}


def _real(value: Any) -> bool:
    return integral(value) and not isinstance(value, FakeTensor)


def _storage(tensor: Tensor) -> int:
    key: int = tensor.untyped_storage()._cdata
    return key


def _positions(tensor: Tensor) -> bool:
    """Whether these are the integers from zero on."""
    flat = tensor.reshape(-1)
    return len(flat) > 1 and torch.equal(flat, torch.arange(len(flat), dtype=flat.dtype))
