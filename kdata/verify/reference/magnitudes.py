"""Inputs of magnitudes from one end of what a reference bears to the other. In the reference's child only.

Kernels that clip, or are wrong above or below some number, are right at the magnitudes that tasks draw. Which others a
reference bears is found by trying. Where each row of an answer follows from the same row of the inputs, each row has a
magnitude of its own and is judged by itself, so that one trial sees them all; elsewhere the farthest ones have a trial
each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference.casts import Casts
from kdata.verify.reference.draws import HUGE, labels, spared
from kdata.verify.reference.probe import PRODUCTS
from kdata.verify.reference.values import computes, finite, near

# The most telling ones first, for there may be few rows; both ends of a range come before what is between them.
LADDER = (1e6, 10.0, 1e-12, 50.0, 1e12, 1e-6, 1e-5, 1e8, 3.0, 20.0, 1e5, 100.0, 1e-8, 1e30, 1e3, 1e-30, 1e15)
FARTHEST = (1e30, 1e12, 1e8, 1e6, 1e5, 1e3, 100.0, 50.0, 20.0, 10.0, 3.0)
NEAREST = (1e-30, 1e-12, 1e-8, 1e-6)
WEIGHTS = (1e4, 100.0, 10.0, 1.0)
FEW = 8  # weights: of fewer the signs that are drawn may all be such that they show nothing
LEAST_ROWS = 4
STRETCHES = (120.0, 60.0, 30.0, 10.0)  # the largest element of inputs: from 89 on its exponential is beyond float32
RECOMPUTED = 128.0  # a sum of products beyond it, made once more in a backward, is off by what its exponential shows
PRODUCT = 36  # decimal exponent of float32 that is left to a product of all inputs
CLEAR = 10.0  # magnitudes from here on tell what is homogeneous from what is so near zero only
ABSENT = 0.25  # share of the weights that are zero in one draw
EQUAL = 1e-6  # relative difference of answers that are the same
CONDITION = 1e-4  # relative change by an ulp beyond which inputs say nothing about a kernel
ROUGH = 0.02  # the same where ulps are half precision's, and of an arc's cosine that is nearly one
GROWING = frozenset({"exp", "exp2", "expm1", "pow", "mul", "square"})
Answer = Callable[[list[Any]], Any]


class RootsApart(TorchDispatchMode):
    """Takes standard deviations as roots of variances, as kernels do; on a CPU torch has them in fp64 until the end."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function is torch.ops.aten.std.correction:
            return torch.ops.aten.var.correction(*args, **(kwargs or {})).sqrt()
        if function is torch.ops.aten.std_mean.correction:
            variance, mean = torch.ops.aten.var_mean.correction(*args, **(kwargs or {}))
            return variance.sqrt(), mean
        return function(*args, **(kwargs or {}))


class Overflows(TorchDispatchMode):
    """Sees whether what is computed of finite numbers is beyond float32, be it hidden again by what follows."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = False

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if str(function).split(".")[1] in GROWING and not self.seen and computes(result):
            given = [leaf for leaf in tree_leaves(args) if isinstance(leaf, Tensor)]
            self.seen = bool(result.isinf().any()) and not any(bool(t.isinf().any()) for t in given)
        return result


class Products(TorchDispatchMode):
    """Sees the largest sum of products on the way to an answer: at most, where those of an attention are not seen."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = 0.0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        name = str(function).split(".")[1]
        if any(part in name for part in PRODUCTS) and torch.is_grad_enabled():  # no backward
            hidden = [leaf for leaf in args[:2] if computes(leaf)] if "attention" in name else []
            bound = math.prod(float(leaf.norm(dim=-1).max()) for leaf in hidden) if hidden else 0.0
            made = max((float(t.abs().max()) for t in tree_leaves(result) if computes(t)), default=0.0)
            self.largest = max(self.largest, bound, made)
        return result


@dataclass(frozen=True, slots=True)
class Measures:
    """Answers of one reference to inputs: eager's, the fp64 golden, and eager's to inputs moved by an ulp.

    The last one may be with what overflows in a kernel of float32 (``RootsApart``).

    Each may raise whatever the reference raises.
    """

    eager: Answer
    golden: Answer
    moved: Answer
    condition: float = CONDITION

    def holds(self, inputs: list[Any]) -> bool:
        """Whether the reference bears these inputs, and nothing on its way to their answer overflows."""
        with Overflows() as overflows:
            return self.bears(inputs) and not overflows.seen

    def steady(self, inputs: list[Any]) -> bool:
        """Whether its answer to these inputs and the moved one are near, as far as there is a moved one."""
        try:
            other = self.moved(inputs)
        except Exception:  # noqa: BLE001 - moved out of its domain
            return True
        return near(self.eager(inputs), other, self.condition)

    def bears(self, inputs: list[Any]) -> bool:
        """Whether the reference is finite and well-conditioned on these inputs."""
        try:
            with Casts() as casts:
                answer = self.eager(inputs)
            if casts.undefined or not finite(answer):
                return False
            return all(near(answer, other(inputs), self.condition) for other in (self.moved, self.golden))
        except Exception:  # noqa: BLE001 - outside its domain
            return False


@dataclass(frozen=True, slots=True)
class Mixed:
    """Inputs whose rows differ in magnitude."""

    inputs: list[Any]
    scales: list[float]  # of each row
    homogeneous: bool  # whether answers grow as their inputs do
    dim: int = 0  # of what counts as rows, see kdata.verify.reference.along


def in_half(inputs: list[Any]) -> bool:
    """Whether some of the inputs are of half precision."""
    return any(computes(t) and t.element_size() == 2 for t in tree_leaves(inputs))


def mixed(inputs: list[Any], measures: Measures, steady: bool = False) -> Mixed | None:
    """Each row at a magnitude that the reference bears; None where rows are not independent, or are few.

    ``steady``: see ``_allowed``.

    Raises:
        Exception: whatever the reference raises.
    """
    usual = measures.eager(inputs)
    count = _rows(inputs, usual)
    if count < LEAST_ROWS:
        return None
    scales, left = [1.0] * count, iter(_allowed(inputs, LADDER, steady))
    open_rows = list(range(count))
    while open_rows and (next_ones := dict(zip(open_rows, left, strict=False))):
        tried = [next_ones.get(row, scale) for row, scale in enumerate(scales)]
        borne = _borne(_scaled(inputs, tried), measures, count)
        scales = [tried[row] if borne[row] else scales[row] for row in range(count)]
        open_rows = [row for row in open_rows if scales[row] == 1.0]
    chosen = _scaled(inputs, scales)
    if all(scale == 1.0 for scale in scales) or not _independent(inputs, chosen, measures, count):
        return None
    return Mixed(chosen, scales, _homogeneous(usual, measures.eager(chosen), scales))


def uniform(
    inputs: list[Any], scales: Sequence[float], bears: Callable[[list[Any]], bool], steady: bool = False
) -> list[Any] | None:  # fmt: skip
    """All inputs at the first of some magnitudes that the reference bears; None for none."""
    tried = (tree_map(_by(inputs, scale), inputs) for scale in _allowed(inputs, scales, steady))
    return next((changed for changed in tried if bears(changed)), None)


def stretched(inputs: list[Any], measures: Measures) -> list[Any] | None:
    """All inputs but labels grown to the first of ``STRETCHES`` that a reference bears; None where none is or grows.

    Kernels make sums of products once more in their backward, in another order: those stay below ``RECOMPUTED``.
    """
    leaves = tree_leaves(inputs)
    still = {id(leaves[n]) for n in labels(leaves)}
    for most in STRETCHES:
        changed = tree_map(lambda t, most=most: t if id(t) in still else _grown_to(t, most), inputs)
        if all(a is b for a, b in zip(tree_leaves(changed), leaves, strict=True)):
            continue
        with Products() as products:
            borne = measures.holds(changed)
        if borne and products.largest <= RECOMPUTED:
            return list(changed)
    return None


def _grown_to(value: Any, most: float) -> Any:
    """A floating tensor times what makes its largest element ``most``; as it is where that is larger, or zero."""
    largest = float(value.abs().max()) if computes(value) else 0.0
    return (value * (most / largest)).to(value.dtype) if 0.0 < largest < most else value


def weights(
    state: dict[str, Any], trained: Sequence[str], generator: torch.Generator
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Weights of either sign, a few all of the other one: as large as may be first; then all of the sign they have."""
    signs = {name: (2 * torch.randint(0, 2, state[name].shape, generator=generator) - 1) for name in trained}
    signs |= {name: torch.full_like(signs[name], -1) for name in trained if state[name].numel() < FEW}
    for scale in WEIGHTS:
        yield state | {name: (state[name] * signs[name] * scale).to(state[name].dtype) for name in trained}
    yield state | {name: state[name] * CLEAR for name in trained}


def grown(
    state: dict[str, Any], trained: Sequence[str], moving: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Weights of the signs that they have, where some of them are few, and what calls change: as large as may be first.

    ``moving``: the latter, running statistics say, which many calls make what none of a few make them.
    """
    few = trained if any(state[name].numel() < FEW for name in trained) else ()
    for names in dict.fromkeys(((*few, *moving), tuple(moving))):
        for scale in WEIGHTS[:-1] if names else ():
            yield state | {name: (state[name] * scale).to(state[name].dtype) for name in names}


def absent(
    state: dict[str, Any], trained: Sequence[str], generator: torch.Generator
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Some of the weights zero, as those of gates and of norms before a sum start."""
    several = [name for name in trained if state[name].numel() > 1]
    if several:
        zeros = {name: torch.rand(state[name].shape, generator=generator) < ABSENT for name in several}
        yield state | {name: state[name].masked_fill(zeros[name], 0.0) for name in several}


def _allowed(inputs: list[Any], scales: Sequence[float], steady: bool) -> list[float]:
    """The magnitudes that are tried: where some inputs are spared the others are not beyond what a mask is, either.

    A product of all inputs neither overflows nor vanishes, for kernels may take it before what makes it small; but
    where the reference's operators are ``steady``, which promise that nothing does on their way.
    """
    leaves = tree_leaves(inputs)
    exponent = PRODUCT / (1 if steady else max(1, sum(map(computes, leaves))))
    most = min(HUGE if spared(leaves) else math.inf, 10.0**exponent)
    return [scale for scale in scales if 10.0**-exponent <= scale <= most]


def _by(inputs: list[Any], scale: float) -> Callable[[Any], Any]:
    leaves = tree_leaves(inputs)
    still = {id(leaves[n]) for n in labels(leaves) | (spared(leaves) if scale > 1 else set())}
    return lambda t: t * scale if computes(t) and id(t) not in still else t


def _rows(inputs: list[Any], answer: Any) -> int:
    """The rows that the first floating input and all of the answer have; 0 where these differ."""
    leading = next((t.shape[0] for t in tree_leaves(inputs) if computes(t) and t.ndim > 1), 0)
    made = [t for t in tree_leaves(answer) if isinstance(t, Tensor)]
    return leading if made and all(t.ndim and t.shape[0] == leading for t in made) else 0


def _scaled(inputs: list[Any], scales: list[float]) -> list[Any]:
    leaves = tree_leaves(inputs)
    still, same = ({id(leaves[n]) for n in chosen} for chosen in (spared(leaves), labels(leaves)))

    def change(tensor: Any) -> Any:
        if id(tensor) in same or not computes(tensor) or not tensor.ndim or tensor.shape[0] != len(scales):
            return tensor
        kept = [min(scale, 1.0) if id(tensor) in still else scale for scale in scales]
        return (tensor * _column(kept, tensor)).to(tensor.dtype)

    changed: list[Any] = tree_map(change, inputs)
    return changed


def _column(scales: list[float], like: Tensor) -> Tensor:
    return torch.tensor(scales, dtype=torch.float64).reshape(-1, *[1] * (like.ndim - 1))


def _borne(inputs: list[Any], measures: Measures, count: int) -> list[bool]:
    """Of which rows the answer is finite and well-conditioned; none where the reference fails."""
    try:
        answer = measures.eager(inputs)
        others = [measures.moved(inputs), measures.golden(inputs)]
    except Exception:  # noqa: BLE001 - outside its domain
        return [False] * count
    return [_alike(answer, others, row, measures.condition) for row in range(count)]


def _alike(answer: Any, others: list[Any], row: int, condition: float) -> bool:
    own = _row(answer, row)
    return finite(own) and all(near(own, _row(other, row), condition) for other in others)


def _row(answer: Any, row: int) -> Any:
    return tree_map(lambda t: t[row : row + 1] if isinstance(t, Tensor) else t, answer)


def _independent(usual: list[Any], chosen: list[Any], measures: Measures, count: int) -> bool:
    """Whether every other row's answer stays what it is while the rows between are at their usual magnitude."""
    whole = measures.eager(chosen)
    for first in (0, 1):
        others = tree_map(partial(_interleaved, first=1 - first, count=count), chosen, usual)
        part = measures.eager(others)
        if not all(near(_row(whole, row), _row(part, row), EQUAL) for row in range(first, count, 2)):
            return False
    return True


def _interleaved(one: Any, other: Any, first: int, count: int) -> Any:
    if not computes(one) or not one.ndim or one.shape[0] != count:
        return one
    mixture = one.clone()
    mixture[first::2] = other[first::2]
    return mixture


def _homogeneous(usual: Any, answer: Any, scales: list[float]) -> bool:
    """Whether the answer's rows are the usual ones, times their magnitudes; which must tell, being large."""
    pairs = zip(tree_leaves(usual), tree_leaves(answer), strict=True)
    return max(scales) >= CLEAR and all(
        isinstance(a, Tensor) and a.is_floating_point() and _grown(a, b, scales) for a, b in pairs
    )


def _grown(usual: Tensor, answer: Tensor, scales: list[float]) -> bool:
    ideal = usual.double() * _column(scales, usual)
    return all(near(ideal[n], answer[n].double(), CONDITION) for n in range(len(scales)))
