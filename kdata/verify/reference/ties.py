"""Whether a reference chooses among what is equal, so that other indices would do. In the reference's child only.

Of equal elements ``torch.topk`` names any; a probability that has run out to zero is equal to all others that have, and
of logits in the thousands another order of summing changes the fourth digit of what comes of them.  Of two distances
that differ by some ulps ``torch.argmin`` names the smaller one, and a kernel that sums in another order the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference.values import computes

CLOSE = 1e-3  # of two numbers: what is closer may be in either order in an honest kernel
ROUNDED = 4e-6  # of the two largest: what rounding may put in either order; inputs as they are seldom come so close
COUPLED = (2, 3)  # rows of weights that are equal
LARGEST = {torch.ops.aten.argmax.default: True, torch.ops.aten.argmin.default: False,
           torch.ops.aten.max.dim: True, torch.ops.aten.min.dim: False}  # fmt: skip
ORDERS = ((False, 0), (True, 0), (False, 1), (False, 2), (False, -1))  # see ``ByPlace``
# What names indices, of equal elements any; those that are told a number before the dimension; and those that name none
# where they are told no dimension.
CHOOSING = frozenset("topk sort kthvalue median nanmedian mode".split())
ANY_OF = frozenset(getattr(torch.ops.aten, name) for name in CHOOSING)
COUNTED = frozenset({torch.ops.aten.topk, torch.ops.aten.kthvalue})
WHOLE = frozenset({torch.ops.aten.median, torch.ops.aten.nanmedian})
RUNNING = frozenset({torch.ops.aten.cummax.default, torch.ops.aten.cummin.default})


class Ties(TorchDispatchMode):
    """Notes while operators run whether one chose so, and whether among what is close but not equal."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: bool = False
        self.close: bool = False

    def __torch_dispatch__(self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        if function.overloadpacket is torch.ops.aten.topk and not self.close:
            dim = args[2] if len(args) > 2 else -1
            self.seen = self.seen or undecided(args[0], out[0], dim)
            self.close = self.seen and undecided(args[0], out[0], dim, but_equal=True)
        if function in LARGEST and not self.close:
            self.close = _nearly_equal(args[0], args[1] if len(args) > 1 else None, LARGEST[function])
        if function in RUNNING and not self.close:
            self.close = _nearly_met(args[0], out[0], args[1])
        return out


class ByPlace(TorchDispatchMode):
    """Lets what chooses among equal elements take the first in its row first, or, ``backwards``, the last.

    ``turned``: those that are equal are taken in turn, from so many further on.  Where those that ``torch.topk`` has
    chosen may stand in any order it chooses as it likes, of the row or of the row turned round.
    """

    def __init__(self, backwards: bool = False, turned: int = 0) -> None:
        super().__init__()
        self._backwards, self._turned = backwards, turned

    def __torch_dispatch__(self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not chooses(function, args, kwargs) or not args[0].ndim:
            return function(*args, **kwargs)
        if function is torch.ops.aten.topk.default:
            return self._topk(*args)
        dim, descending = dimension(function, args, kwargs), kwargs.get("descending", args[2:] == (True,))
        if function.overloadpacket is torch.ops.aten.sort:
            return self._topk(args[0], args[0].shape[dim], dim, descending)
        values, indices = function(*args, **kwargs)
        return values, self._one(args[0], values.reshape(indices.shape), indices, dim)

    def _topk(self, given: Tensor, count: int, dim: int = -1, largest: bool = True, ordered: bool = True) -> Any:
        row = given.flip(dim) if self._backwards else given
        if ordered:
            values, indices = row.sort(dim=dim, descending=largest, stable=True)
            indices = indices.gather(dim, _further(values, dim, self._turned)) if self._turned else indices
            values, indices = (t.narrow(dim, 0, count).contiguous() for t in (values, indices))  # as topk's own are
        else:
            values, indices = torch.topk(row, count, dim, largest, ordered)
        return values, given.shape[dim] - 1 - indices if self._backwards else indices

    def _one(self, given: Tensor, value: Tensor, index: Tensor, dim: int) -> Tensor:
        """The place of each row's ``value``, of which ``index`` is one."""
        wide = value if value.ndim == given.ndim else value.unsqueeze(dim)
        equal = (given == wide) | ((given != given) & (wide != wide))
        wanted = equal.sum(dim, keepdim=True) - 1 if self._backwards else self._turned % equal.sum(dim, keepdim=True)
        return (equal & (equal.cumsum(dim) - 1 == wanted)).int().argmax(dim).reshape(index.shape)


def chooses(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether an operator names indices, of equal elements any; a sort that is told to be stable does not."""
    packet = function.overloadpacket
    if packet is torch.ops.aten.sort:
        return not kwargs.get("stable")
    whole = packet in WHOLE and function._overloadname != "dim"
    return packet in ANY_OF and function._overloadname in ("default", "dim") and not whole


def dimension(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> int:
    """Along which dimension such an operator chooses."""
    place = 2 if function.overloadpacket in COUNTED else 1
    found: int = kwargs.get("dim", args[place] if len(args) > place else -1)
    return found


def _further(values: Tensor, dim: int, steps: int) -> Tensor:
    """Places in rows that are in order, each so many steps further among those that are equal, in a circle."""
    rows = values.movedim(dim, -1)
    place = torch.arange(rows.shape[-1], device=rows.device).expand(rows.shape)
    begins = torch.ones_like(place, dtype=torch.bool)
    begins[..., 1:] = rows[..., 1:] != rows[..., :-1]
    ends = torch.cat([begins[..., 1:], torch.ones_like(begins[..., :1])], -1)
    first = place.masked_fill(~begins, 0).cummax(-1).values
    last = place.masked_fill(~ends, rows.shape[-1]).flip(-1).cummin(-1).values.flip(-1)
    return (first + (place - first + steps) % (last - first + 1)).movedim(-1, dim)


def either_place(answer: Callable[[], list[Any]], names: Collection[str]) -> Iterator[list[Any]]:
    """What a reference answers that chooses otherwise among what is equal; nothing where none chooses so.

    Of up to four that are equal each comes in each place once; of more the first and the last are at either end.

    Args:
        answer: runs it.
        names: of its operators.
    """
    for backwards, turned in ORDERS if not CHOOSING.isdisjoint(names) else ():
        with ByPlace(backwards, turned):
            found = answer()
        yield found


def twinned(inputs: list[Any]) -> list[Any] | None:
    """The inputs with the largest of each row in the next place, too; None without numbers."""

    def change(value: Any) -> Any:
        if not computes(value) or not value.ndim or value.shape[-1] < 2:
            return value
        largest = value.max(-1, keepdim=True)
        return value.scatter(-1, (largest.indices + 1) % value.shape[-1], largest.values)

    return [*tree_map(change, inputs)] if any(map(computes, tree_leaves(inputs))) else None


def coupled(state: dict[str, Any], trained: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Weights whose rows are equal two by two, or three by three: what is chosen among what follows of them is, too."""
    for count in COUPLED:
        yield state | {n: _coupled(state[n], count) for n in trained if state[n].ndim and len(state[n]) >= count}


def _coupled(weight: Tensor, count: int) -> Tensor:
    rows = torch.arange(len(weight))
    return weight[torch.where(rows < len(weight) // count * count, rows // count * count, rows)]


def undecided(given: Tensor, chosen: Tensor, dim: int, but_equal: bool = False) -> bool:
    """Whether two of the chosen ones along a dimension are close, or one that was not chosen is close to one of them.

    ``chosen``: the largest or the smallest ones of ``given``; ``but_equal``: what is equal does not count.
    """
    if not given.ndim or not chosen.numel():
        return False
    ordered = chosen.sort(dim).values
    below, above = (ordered.narrow(dim, at, ordered.shape[dim] - 1) for at in (0, 1))
    if bool(_close(below, above, but_equal).any()):
        return True
    ends = (ordered.narrow(dim, at, 1) for at in (0, ordered.shape[dim] - 1))
    most = 0 if but_equal else 1  # itself
    return any(bool((_close(given, end, but_equal).sum(dim) > most).any()) for end in ends)


def _nearly_equal(given: Tensor, along: int | None, largest: bool) -> bool:
    """Whether the two largest, or least, are so close without being equal that rounding decides which comes first."""
    line, dim = (given.reshape(-1), 0) if along is None else (given, along)
    if not given.is_floating_point() or not line.ndim or not line.numel() or line.shape[dim] < 2:
        return False
    one, other = line.topk(2, dim, largest).values.unbind(dim)
    return bool((torch.isclose(one, other, rtol=ROUNDED, atol=0.0) & (one != other)).any())


def _nearly_met(given: Tensor, reached: Tensor, dim: int) -> bool:
    """Whether an element is so close to what a running maximum had reached, and no equal, that rounding decides."""
    if not given.is_floating_point() or not given.ndim or given.shape[dim] < 2:
        return False
    before, after = reached.narrow(dim, 0, given.shape[dim] - 1), given.narrow(dim, 1, given.shape[dim] - 1)
    return bool((torch.isclose(before, after, rtol=ROUNDED, atol=0.0) & (before != after)).any())


def _close(one: Tensor, other: Tensor, but_equal: bool) -> Tensor:
    if not one.is_floating_point():
        return torch.zeros_like(one == other) if but_equal else one == other
    close = torch.isclose(one, other, rtol=CLOSE, atol=torch.finfo(one.dtype).tiny)
    return close & (one != other) if but_equal else close
