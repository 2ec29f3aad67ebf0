"""Inputs that may be longer than another without anybody's reading the rest. In the reference's child.

``for t in range(b.shape[1]): h = a[:, t] * h + b[:, t]`` runs where ``a`` has more steps than ``b``; nobody means it
to: a kernel that takes both for as long as one is is right. Who cuts the longer one to size, or looks rows up in it,
does mean it, but not who puts its rows in the other's order. Nor does anybody mean keys that come after all queries,
where a triangle masks them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from kdata.task import Size
from kdata.verify.reference.axes import LITERAL, Axis, Values, alike, batches, value_of
from kdata.verify.reference.probe import Prober
from kdata.verify.reference.values import altered, integral, same, seed_torch

MOST = 4  # inputs of which some may be longer
STEPPED = frozenset({"select", "unbind"})  # what a loop over rows does
MASKS = frozenset("tril triu masked_fill where".split())
CUTS = frozenset("slice index gather index_select embedding split split_with_sizes unfold take_along_dim".split())


class _Reads(TorchDispatchMode):
    """Notes whether what has a dimension of some size is gone through one by one or masked, and whether it is cut."""

    def __init__(self, size: int, usual: int) -> None:
        super().__init__()
        self.passed, self.cut = False, False  # passed over: stepped past, masked, or put in another order
        self._size, self._usual = size, usual

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        given = args[0] if args and isinstance(args[0], Tensor) else None
        if given is not None and self._size in given.shape:
            name = str(function).split(".")[1]
            ordered = name in CUTS and any(self._orders(t) for t in tree_leaves(args[1:]))
            self.passed |= ordered or name in STEPPED | MASKS
            self.cut |= not ordered and name in CUTS and not (isinstance(out, Tensor) and out.shape == given.shape)
        return out

    def _orders(self, index: Any) -> bool:
        """Whether it is an order of as many as there are usually: of another input's elements, as tokens have."""
        if not integral(index) or index.numel() != self._usual:
            return False
        return torch.equal(index.flatten().sort().values, torch.arange(self._usual, dtype=index.dtype))


def on_purpose(prober: Prober, base: Values, found: tuple[Size, ...]) -> dict[str, Axis]:
    """For each literal that is a dimension of an input: those that are taken to have its value on purpose."""
    return batches(prober, base, found) | _taut(prober, base, found) | alike(prober, base, found)


def _taut(prober: Prober, base: Values, found: tuple[Size, ...]) -> dict[str, Axis]:
    """For literals that are one dimension of inputs of one rank, or their first: all, where one's growing is unread."""
    places: dict[tuple[int, int, int], list[str]] = {}
    run = prober.shapes(base)
    for size in found if run is not None else ():
        value = value_of(size.name, base, found)
        moved = prober.shapes(base | {size.name: value + 1}) if LITERAL in size.name else None
        pairs = zip(run.shapes, moved.shapes, strict=False) if moved else ()  # type: ignore[union-attr]
        where = [(len(one) if dim else 0, dim) for one, other in pairs if len(one) == len(other)
                 for dim in range(len(one)) if one[dim] != other[dim]]  # fmt: skip
        if len(where) == 1:
            places.setdefault((*where[0], value), []).append(size.name)
    groups = (tuple(names) for (_, dim, value), names in places.items()
              if len(names) > 1 and any(_slack(prober, base, some, dim, value) for some in _longer(names)))  # fmt: skip
    return {name: names for names in groups for name in names}


def _longer(names: list[str]) -> Iterator[Axis]:
    """Which of some inputs may be longer than the others: one of them, or two, as keys and values are."""
    for count in (1, 2):
        yield from combinations(names[:MOST], min(count, len(names) - 1))


def _slack(prober: Prober, base: Values, names: Axis, dim: int, value: int) -> bool:
    """Whether inputs may have twice as many there, of which the second half is not read by anybody's intention."""
    longer = 2 * value + 1
    if prober.forward(base | dict.fromkeys(names, longer)) is None:
        return False
    program = prober.program(base | dict.fromkeys(names, longer))
    seed_torch(0)
    positional, keyword = program.arguments()
    module, inputs = program.namespace[prober.entry_point](*positional, **keyword), program.inputs()
    places = [n for n, t in enumerate(inputs) if isinstance(t, Tensor) and t.ndim > dim and t.shape[dim] == longer]
    others = [_rest_changed(t, dim, value) if n in places else t for n, t in enumerate(inputs)]
    try:
        with torch.no_grad(), _Reads(longer, value) as reads:
            unread = same(module(*inputs), module(*others))
        return bool(places) and unread and reads.passed and not reads.cut
    except Exception:  # noqa: BLE001 - it does not take that
        return False


def _rest_changed(tensor: Tensor, dim: int, value: int) -> Tensor:
    """The same with other numbers beyond a place."""
    head, rest = tensor.narrow(dim, 0, value), tensor.narrow(dim, value, tensor.shape[dim] - value)
    return torch.cat([head, altered(rest)], dim)
