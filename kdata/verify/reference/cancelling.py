"""Factors in half precision whose products cancel: sums that are large before they are small. In the reference's child.

Sums of random numbers grow so slowly that a kernel which adds them up in half precision is within what is allowed.
Here they are whole numbers whose sums reach thousands half-way, of which half precision has every eighth or sixteenth
only, and come back to few: exact in single precision, in any order and of any number of parts.  Only where there
is one product, or two, and the reference itself is right there.

What stands beside shares, as the values of attention do, is such a factor by itself: where all else is zero the shares
are equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from kdata.verify.reference.probe import PRODUCTS
from kdata.verify.values import computes, finite, near

HALF_WAY = 30000  # about which a sum is at its largest: float16 ends at 65504, beyond which it would be infinite
FEWEST, MOST = 16, 1 << 13  # terms of a sum
LESS = 16.0  # times as large as the answer are sums that do not cancel
FACTORS = {"mm": 0, "bmm": 0, "mv": 0, "dot": 0, "addmm": 1, "baddbmm": 1, "addmv": 1, "linear": 0,
           "convolution": 1}  # fmt: skip
SUMMED, TRANSPOSED, GROUPS = 1, 6, 8  # a dimension of a convolution's weights, and arguments of it
ALLOWED = 2  # products on the way
HALVES = (torch.float16, torch.bfloat16)
WHOLE = {torch.float16: 1 << 11, torch.bfloat16: 1 << 8}  # up to which they hold all whole numbers
ATTENTION, KEYS, LENGTH = "scaled_dot_product", 1, -2  # by its name, and which of its arguments says how many it weighs
Answer = Callable[[list[Any]], Any]


class Products(TorchDispatchMode):
    """Sees how many products there are on the way, and the terms of the sums of such as are of half precision."""

    def __init__(self) -> None:
        super().__init__()
        self.count, self.terms = 0, dict[int, None]()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(function).split(".")[1]
        if any(part in name for part in PRODUCTS):
            self.count += 1
            attends = ATTENTION in name
            one = args[KEYS] if attends else args[FACTORS[name]] if name in FACTORS else None
            if isinstance(one, Tensor) and one.dtype in HALVES:
                self.terms[one.shape[LENGTH] if attends else _terms(name, one, args)] = None
        return function(*args, **(kwargs or {}))


def cancelling(
    leaves: Sequence[Any], eager: Answer, golden: Answer, generator: torch.Generator
) -> list[Any] | None:  # fmt: skip
    """Inputs and weights of which two are such factors, or one; None where the reference is not right there.

    ``eager`` and ``golden`` answer to leaves like these.
    """
    with Products() as products:
        eager([*leaves])
    terms = [n for n in products.terms if FEWEST <= n <= MOST] if products.count <= ALLOWED else []
    for tried in (tried for way in (_tried, _alone) for n in terms for tried in way(leaves, n, generator)):
        answer = eager(tried)
        large = eager([t.abs() if computes(t) else t for t in tried])
        epsilon = max(torch.finfo(t.dtype).eps for t in tried if computes(t))
        if finite(answer) and near(answer, golden(tried), epsilon) and _size(large) > LESS * _size(answer) > 0:
            return tried
    return None


def _terms(name: str, factor: Tensor, args: Any) -> int:
    """Along how long an axis a product sums; of a convolution, channels: what it sums beside them cancels by itself."""
    if name != "convolution":
        return int(factor.shape[-1])
    return 0 if args[TRANSPOSED] or args[GROUPS] > 1 else int(factor.shape[SUMMED])


def _tried(leaves: Sequence[Any], terms: int, generator: torch.Generator) -> Iterator[list[Any]]:
    """The leaves with two in half precision such factors along axes of so many terms."""
    for (one, p), (other, q) in permutations(_places(leaves, terms), 2):
        if one < other:
            most = int(math.sqrt(8 * HALF_WAY / terms))
            tried = [*leaves]
            tried[one] = _drawn(leaves[one], p, -1, most, generator)
            tried[other] = _drawn(leaves[other], q, 1, most, generator)
            yield tried


def _alone(leaves: Sequence[Any], terms: int, generator: torch.Generator) -> Iterator[list[Any]]:
    """Zeros for all leaves in half precision but one, which is such a factor along an axis of so many terms."""
    for place, axis in _places(leaves, terms):
        most = min(4 * HALF_WAY // terms, WHOLE[leaves[place].dtype] - 1)
        tried = [torch.zeros_like(t) if computes(t) and t.dtype in HALVES else t for t in leaves]
        tried[place] = _drawn(leaves[place], axis, -1, most, generator)
        yield tried


def _places(leaves: Sequence[Any], terms: int) -> list[tuple[int, int]]:
    """Leaves in half precision with an axis of so many terms, the last axis of a leaf first."""
    halves = [n for n, t in enumerate(leaves) if computes(t) and t.dtype in HALVES]
    return [(n, axis) for n in halves for axis in range(leaves[n].ndim)[::-1] if leaves[n].shape[axis] == terms]


def _drawn(like: Tensor, axis: int, sign: int, most: int, generator: torch.Generator) -> Tensor:
    """Whole numbers of which the last half along an axis is the first one, turned round; if negated, moved by one."""
    terms, most = like.shape[axis], max(3, most)
    shape = [*like.shape[:axis], *like.shape[axis + 1 :], (terms + 1) // 2]
    first = torch.randint(1, most + 1, shape, generator=generator)
    second = sign * first.flip(-1)[..., terms % 2 :]
    if sign < 0:
        second = second + torch.randint(-1, 2, second.shape, generator=generator)
    return torch.cat([first, second], -1).movedim(-1, axis).contiguous().to(like.dtype)


def _size(answer: Any) -> float:
    tensors = [t for t in tree_leaves(answer) if computes(t)]
    return max((float(t.double().square().mean().sqrt()) for t in tensors), default=0.0)
