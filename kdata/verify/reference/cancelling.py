"""Factors in half precision whose products cancel: sums that are large before they are small. In the reference's child.

Sums of random numbers grow so slowly that a kernel which adds them up in half precision is within what is allowed.
Here they are whole numbers whose sums reach thousands half-way, of which half precision has every eighth or sixteenth
only, and come back to few: exact in single precision, in any order and of any number of parts.  Only where there
is one product of matrices, or two, or none and what is summed follows from inputs element by element; and where the
reference itself is right there.

What stands beside shares, as the values of attention do, is such a factor by itself: where all else is zero the shares
are equal.  So is what is summed without another factor, or with one that is the same for all terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, permutations
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference.draws import draw, labels
from kdata.verify.reference.probe import PRODUCTS
from kdata.verify.reference.values import computes, finite, near

HALF_WAY = 30000  # about which a sum is at its largest: float16 ends at 65504, beyond which it would be infinite
FEWEST, MOST = 16, 1 << 13  # terms of a sum
LESS = 16.0  # times as large as the answer are sums that do not cancel
FACTORS = {"mm": 0, "bmm": 0, "mv": 0, "dot": 0, "addmm": 1, "baddbmm": 1, "addmv": 1, "linear": 0,
           "convolution": 1}  # fmt: skip
SUMMED, TRANSPOSED, GROUPS = 1, 6, 8  # a dimension of a convolution's weights, and arguments of it
ADDS_UP = ("sum", "mean")
# Operators that add rows where integers say: which argument has an entry for each, and which says along what.
PUTS = {"index_add": (2, None), "scatter_add": (2, 1), "scatter_reduce": (2, 1)}
PUTS_AT, AT, ACCUMULATES = ("index_put", "_index_put_impl"), 1, 3  # likewise, by several indices at once, if it adds
LOOKS_UP = frozenset("embedding _embedding_bag _embedding_bag_forward_only index index_select gather".split())
ALLOWED = 2  # products on the way
MOST_TRIED = 32  # places of factors in what is summed
HALVES = (torch.float16, torch.bfloat16)
WHOLE = {torch.float16: 1 << 11, torch.bfloat16: 1 << 8}  # up to which they hold all whole numbers
ATTENTION, KEYS, LENGTH = "scaled_dot_product", 1, -2  # by its name, and which of its arguments says how many it weighs
SINGLE = 2.0**-23  # an ulp of one in single precision
STEADY = 64  # terms that lose no more than an ulp of their sum, added one by one; more do with the root of their number
Answer = Callable[[list[Any]], Any]
Axes = tuple[int, int]  # the first and the last of those that are next to each other
Place = tuple[int, Axes]  # of which leaf
Tried = tuple[int, list[Any]]  # of so many terms, and which leaves


@dataclass(frozen=True, slots=True)
class Found:
    """Leaves that cancel, and the answer with what is lost of sums that do not when they are rounded to float32."""

    leaves: list[Any]
    rounded: Any


class Products(TorchDispatchMode):
    """Sees how many products there are on the way, and the terms of the sums of such as are of half precision.

    And those of other sums, and of such as integers say what belongs to.
    """

    def __init__(self) -> None:
        super().__init__()
        self.count, self.terms, self.added, self.put = 0, *(dict[int, None]() for _ in range(3))
        self.looks = False  # up rows of a table

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(function).split(".")[1]
        self.looks |= name in LOOKS_UP
        if any(part in name for part in PRODUCTS):
            self.count += 1
            attends = ATTENTION in name
            one = args[KEYS] if attends else args[FACTORS[name]] if name in FACTORS else None
            if isinstance(one, Tensor) and one.dtype in HALVES:
                self.terms[one.shape[LENGTH] if attends else _terms(name, one, args)] = None
        elif name in ADDS_UP and computes(args[0]):
            self.added[_reduced(*args[:2])] = None
        elif (puts := name.rstrip("_")) in PUTS:
            place, along = PUTS[puts]
            self.put[args[place].numel() if along is None else _reduced(args[place], args[along])] = None
        elif puts in PUTS_AT and len(args) > ACCUMULATES and args[ACCUMULATES]:
            self.put[next((t.numel() for t in args[AT] if t is not None), 0)] = None
        return function(*args, **(kwargs or {}))


def cancelling(
    leaves: Sequence[Any], eager: Answer, golden: Answer, generator: torch.Generator
) -> Found | None:  # fmt: skip
    """Inputs and weights of which two are such factors, or one; None where the reference is not right there.

    ``eager`` and ``golden`` answer to leaves like these.
    """
    with Products() as products:
        eager([*leaves])
    return first_right(_all(leaves, products, generator), eager, golden)


def first_right(tried: Iterable[Tried], eager: Answer, golden: Answer) -> Found | None:
    """The first of what is tried where the reference is right; None where it is nowhere."""
    found = (_found(one, terms, eager, golden) for terms, one in tried)
    return next((each for each in found if each is not None), None)


def _found(leaves: list[Any], terms: int, eager: Answer, golden: Answer) -> Found | None:
    """What is tried, where the reference is right there and what it sums, so many terms, cancels."""
    lost = SINGLE * math.sqrt(max(1.0, terms / STEADY))
    try:
        answer = eager(leaves)
        large = eager([t.abs() if computes(t) else t for t in leaves])
        epsilon = max(torch.finfo(t.dtype).eps for t in leaves if computes(t))
        right = finite(answer) and near(answer, golden(leaves), epsilon) and _size(large) > LESS * _size(answer) > 0
        return Found(leaves, tree_map(partial(_off, lost=lost), answer, large)) if right else None
    except Exception:  # noqa: BLE001 - outside its domain, or the shape of its answer follows from the numbers
        return None


def _all(leaves: Sequence[Any], products: Products, generator: torch.Generator) -> Iterator[Tried]:
    """All that is worth trying, see the top of this file; sums besides products of matrices are not."""
    if products.count:
        terms = [n for n in products.terms if FEWEST <= n <= MOST] if products.count <= ALLOWED else []
        yield from ((n, tried) for way in (_tried, _alone) for n in terms for tried in way(leaves, n, generator))
        return
    yield from _added(leaves, products.added, generator)
    together = draw("crowded", [*leaves], generator) if products.put else None  # all terms are one sum's
    yield from _added(together, products.put, generator) if together else ()


def _added(leaves: Sequence[Any], terms: Iterable[int], generator: torch.Generator) -> Iterator[Tried]:
    """What is worth trying where there are sums of so many terms."""
    for n in (n for n in terms if FEWEST <= n <= MOST):
        for tried in (_tried(leaves, n, generator, rounded=True), _alone(leaves, n, generator, 1.0)):
            yield from ((n, one) for one in islice(tried, MOST_TRIED))


def _off(answer: Any, large: Any, lost: float) -> Any:
    return answer + lost * large.abs() if computes(answer) else answer


def _reduced(summed: Tensor, dims: Any = None) -> int:
    """How many terms a sum over these dimensions has, or over all."""
    over = range(summed.ndim) if dims is None or dims == [] else [dims] if isinstance(dims, int) else dims
    return math.prod(summed.shape[dim] for dim in over) if summed.ndim else 1  # ``dim=0`` is one of a scalar, too


def _terms(name: str, factor: Tensor, args: Any) -> int:
    """Along how long an axis a product sums; of a convolution, channels: what it sums beside them cancels by itself."""
    if name != "convolution":
        return int(factor.shape[-1])
    return 0 if args[TRANSPOSED] or args[GROUPS] > 1 else int(factor.shape[SUMMED])


def _tried(
    leaves: Sequence[Any], terms: int, generator: torch.Generator, rounded: bool = False
) -> Iterator[list[Any]]:  # fmt: skip
    """The leaves with two in half precision such factors along axes of so many terms.

    ``rounded``: each product may be rounded before it is added.
    """
    for (one, p), (other, q) in permutations(places_of(leaves, terms), 2):
        if one < other:
            most = int(math.sqrt(min(8 * HALF_WAY / terms, WHOLE[leaves[one].dtype] if rounded else math.inf)))
            tried = [*leaves]
            tried[one] = balanced_along(leaves[one], p, -1, most, generator)
            tried[other] = balanced_along(leaves[other], q, 1, most, generator)
            yield tried


def _alone(leaves: Sequence[Any], terms: int, generator: torch.Generator, others: float = 0.0) -> Iterator[list[Any]]:
    """Zeros, or others, for all leaves in half precision but one, which is such a factor along so many terms."""
    for place, axes in places_of(leaves, terms):
        tried = [torch.full_like(t, others) if computes(t) and t.dtype in HALVES else t for t in leaves]
        tried[place] = balanced_along(leaves[place], axes, -1, most_of(leaves[place], terms), generator)
        yield tried


def most_of(leaf: Tensor, terms: int) -> int:
    """The largest whole number of a factor that is summed by itself."""
    return min(4 * HALF_WAY // terms, WHOLE[leaf.dtype] - 1)


def places_of(leaves: Sequence[Any], terms: int) -> list[Place]:
    """Leaves in half precision with axes of so many elements, the last axis of a leaf first; no labels."""
    still = labels(leaves)
    halves = [n for n, t in enumerate(leaves) if computes(t) and t.dtype in HALVES and n not in still]
    return [(n, axes) for n in halves for axes in _runs(leaves[n].shape) if _count(leaves[n], axes) == terms]


def _runs(shape: Sequence[int]) -> Iterator[Axes]:
    """Axes next to each other, one or more; of several none at an end is of a single element."""
    for last in range(len(shape))[::-1]:
        yield last, last
        yield from ((first, last) for first in range(last)[::-1] if shape[first] > 1 and shape[last] > 1)


def _count(leaf: Tensor, axes: Axes) -> int:
    return math.prod(leaf.shape[axes[0] : axes[1] + 1])


def balanced_along(like: Tensor, axes: Axes, sign: int, most: int, generator: torch.Generator) -> Tensor:
    """Whole numbers of which the last half along axes is the first one, turned round; if negated, moved by one."""
    terms, most = _count(like, axes), max(3, most)
    shape = [*like.shape[: axes[0]], *like.shape[axes[1] + 1 :], (terms + 1) // 2]
    first = torch.randint(1, most + 1, shape, generator=generator)
    second = sign * first.flip(-1)[..., terms % 2 :]
    if sign < 0:
        second = second + torch.randint(-1, 2, second.shape, generator=generator)
    return torch.cat([first, second], -1).movedim(-1, axes[0]).reshape(like.shape).to(like.dtype)


def _size(answer: Any) -> float:
    tensors = [t for t in tree_leaves(answer) if computes(t)]
    return max((float(t.double().square().mean().sqrt()) for t in tensors), default=0.0)
