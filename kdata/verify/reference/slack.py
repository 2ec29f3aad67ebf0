"""Inputs that may be longer than another without anybody's reading the rest. In the reference's child.

``for t in range(b.shape[1]): h = a[:, t] * h + b[:, t]`` runs where ``a`` has more steps than ``b``; nobody means it
to: a kernel that takes both for as long as one is is right. Who cuts the longer one to size, or looks rows up in it,
does mean it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from kdata.task import Size
from kdata.verify.reference.axes import LITERAL, Axis, Values, alike, batches, value_of
from kdata.verify.reference.probe import Prober
from kdata.verify.values import altered, same, seed_torch

STEPPED = frozenset({"select", "unbind"})  # what a loop over rows does
CUTS = frozenset("slice index gather index_select embedding split split_with_sizes unfold take_along_dim".split())


class _Reads(TorchDispatchMode):
    """Notes whether what has a dimension of some size is gone through one by one, and whether it is cut."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.stepped, self.cut = False, False
        self._size = size

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        given = args[0] if args and isinstance(args[0], Tensor) else None
        if given is not None and self._size in given.shape:
            name = str(function).split(".")[1]
            self.stepped |= name in STEPPED
            self.cut |= name in CUTS and not (isinstance(out, Tensor) and out.shape == given.shape)
        return out


def on_purpose(prober: Prober, base: Values, found: tuple[Size, ...]) -> dict[str, Axis]:
    """For each literal that is a dimension of an input: those that are taken to have its value on purpose."""
    return batches(prober, base, found) | _taut(prober, base, found) | alike(prober, base, found)


def _taut(prober: Prober, base: Values, found: tuple[Size, ...]) -> dict[str, Axis]:
    """For literals that are the same dimension of inputs of one rank: all of them, where one's growing is not read."""
    places: dict[tuple[int, int, int], list[str]] = {}
    run = prober.shapes(base)
    for size in found if run is not None else ():
        value = value_of(size.name, base, found)
        moved = prober.shapes(base | {size.name: value + 1}) if LITERAL in size.name else None
        pairs = zip(run.shapes, moved.shapes, strict=False) if moved else ()  # type: ignore[union-attr]
        where = [(len(one), dim) for one, other in pairs if len(one) == len(other) > 1
                 for dim in range(len(one)) if one[dim] != other[dim]]  # fmt: skip
        if len(where) == 1:
            places.setdefault((*where[0], value), []).append(size.name)
    groups = (tuple(names) for (_, dim, value), names in places.items()
              if len(names) > 1 and any(_slack(prober, base, name, dim, value) for name in names))  # fmt: skip
    return {name: names for names in groups for name in names}


def _slack(prober: Prober, base: Values, name: str, dim: int, value: int) -> bool:
    """Whether an input may have twice as many there, of which the second half is not read by anybody's intention."""
    longer = 2 * value + 1
    if prober.forward(base | {name: longer}) is None:
        return False
    program = prober.program(base | {name: longer})
    seed_torch(0)
    positional, keyword = program.arguments()
    module, inputs = program.namespace[prober.entry_point](*positional, **keyword), program.inputs()
    places = [n for n, t in enumerate(inputs) if isinstance(t, Tensor) and t.ndim > dim and t.shape[dim] == longer]
    others = [_rest_changed(t, dim, value) if n in places else t for n, t in enumerate(inputs)]
    try:
        with torch.no_grad(), _Reads(longer) as reads:
            unread = same(module(*inputs), module(*others))
        return bool(places) and unread and reads.stepped and not reads.cut
    except Exception:  # noqa: BLE001 - it does not take that
        return False


def _rest_changed(tensor: Tensor, dim: int, value: int) -> Tensor:
    """The same with other numbers beyond a place."""
    head, rest = tensor.narrow(dim, 0, value), tensor.narrow(dim, value, tensor.shape[dim] - value)
    return torch.cat([head, altered(rest)], dim)
