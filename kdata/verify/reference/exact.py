"""Inputs at which a reference steps, and whether it steps there for sure. In the reference's child only.

Halves are rounded to even, ``a > b`` is false where both are equal, ``bucketize`` puts a number on an edge below it.
Inputs that a task draws are never there, and where an operand has been rounded before it steps, honest kernels are on
the other side as often as not. Numbers of few digits stay what they are in sums and products, so that all of them are
at the same step.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from kdata.verify.reference.magnitudes import CONDITION, Answer
from kdata.verify.reference.probe import steps
from kdata.verify.reference.values import computes, finite, near, same, shifts

# Parts of one, or of the largest power of two below an input's largest element where that is less, one after another.
DIGITS = (2, 8, 32, 128)
# Operators that round nothing where their operands have few digits, that move elements only, or that look at shapes.
EXACT = frozenset(
    "add sub rsub mul neg abs relu leaky_relu _prelu_kernel clamp clamp_min clamp_max hardtanh maximum minimum max min"
    " amax amin sum cumsum square where mm bmm mv dot addmm baddbmm convolution linear cat stack view _unsafe_view"
    " reshape expand permute transpose t slice select unsqueeze squeeze alias clone _to_copy detach copy index gather"
    " embedding index_select roll flip repeat split split_with_sizes unbind constant_pad_nd tril triu masked_fill"
    " lift_fresh unfold diagonal upsample_nearest1d upsample_nearest2d max_pool2d_with_indices _reshape_alias"
    " zeros_like ones_like full_like empty_like new_zeros new_ones new_full new_empty fill zero addcmul addmv threshold"
    " cummax cummin sort topk scatter scatter_add index_add index_copy index_put _unsafe_index_put select_scatter"
    " slice_scatter reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d pixel_shuffle im2col".split()
)
QUOTIENTS = frozenset({"floor_divide", "remainder", "fmod", "div"})  # which step after they have rounded
DIVIDES = frozenset({"div", "reciprocal"})
MOST_DIVISORS, FEWEST = 3, 4  # numbers that rows' largest are made, and elements of a row that has others
WHOLE = frozenset("floor ceil round trunc sign sgn heaviside".split())  # whose answers have few digits, whatever of


@dataclass(slots=True)
class Step:
    """One operator that steps, what it was given, and whether none of that was ever rounded."""

    function: Any
    args: Any
    kwargs: Any
    exact: bool

    def decided(self, golden: Step) -> bool:
        """Whether it is on one side for sure: its operands are those in fp64, or no step is near them."""
        pairs = zip(_floats(self.args), _floats(golden.args), strict=True)
        if self.exact and golden.exact and all(torch.equal(a.double(), b.double()) for a, b in pairs):
            return True
        leaves = tree_leaves(self.args)
        own = self.function(*self.args, **self.kwargs)
        moved = (iter(values) for values in shifts(leaves))
        return all(same(own, self.function(*tree_map(lambda _, v=v: next(v), self.args), **self.kwargs)) for v in moved)


class Steps(TorchDispatchMode):
    """Notes the steps while operators run, and which tensors have been rounded."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.lost: bool = False  # something rounded was written into a tensor that others may look into
        self._rounded: dict[int, Tensor] = {}  # by their ids, which they keep while they are here

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name, given = str(function).split(".")[1].rstrip("_"), _floats([args, kwargs])
        exact = not any(id(t) in self._rounded for t in given)
        held = tree_map(lambda t: t.clone() if isinstance(t, Tensor) else t, args)
        out = function(*args, **kwargs)
        if steps(function, given, out):
            sharp = exact and (name not in QUOTIENTS or _halves("div", held))
            self.steps.append(Step(_functional(function), held, kwargs, sharp))
        few = name in EXACT or _halves(name, held) or _to_powers(name, held, out)
        if given and name not in WHOLE and not (exact and few):
            self.lost = self.lost or function._schema.is_mutable
            self._rounded |= {id(t): t for t in _floats(out)}
        return out


def sure(inputs: list[Any], eager: Answer, golden: Answer) -> int:
    """How many steps a reference takes at these inputs of what was never rounded; 0 where it is on no side for sure."""
    try:
        with Steps() as own:
            one = eager(inputs)
        with Steps() as wide:
            other = golden(inputs)
        if decided(own, wide) and finite(one) and near(one, other, CONDITION):
            return sum(step.exact for step in own.steps)
    except Exception:  # noqa: BLE001 - outside its domain
        return 0
    return 0


def decided(eager: Steps, golden: Steps) -> bool:
    """Whether a reference steps at all, and wherever it does is on the same side in any honest kernel."""
    if eager.lost or golden.lost or not eager.steps or len(eager.steps) != len(golden.steps):
        return False
    return any(s.exact for s in eager.steps) and all(
        one.function is other.function and one.decided(other)
        for one, other in zip(eager.steps, golden.steps, strict=True)
    )


def rounded(tensor: Any) -> Any:
    """Numbers of few digits near those of a floating tensor."""
    if not computes(tensor):
        return tensor
    largest = float(tensor.abs().max())
    if not 0 < largest < math.inf:
        return tensor
    unit = min(1.0, 2.0 ** math.floor(math.log2(largest)))
    parts = unit / torch.tensor(DIGITS).repeat(-(-tensor.numel() // len(DIGITS)))[: tensor.numel()]
    part = parts.reshape(tensor.shape).to(tensor.dtype)
    return (tensor / part).round() * part + 0.0  # of one sign of zero


def _crowned(tensor: Any, most: int) -> Any:
    """A floating tensor in which no element is larger than the first of each row and of each column, which is so large.

    Unless it has too few elements for that to leave any.
    """
    if not computes(tensor) or tensor.ndim < 1 or tensor.shape[-1] < FEWEST:
        return tensor
    crowned = tensor.clamp(-most, most)
    crowned[..., 0] = most
    if tensor.ndim > 1 and tensor.shape[-2] >= FEWEST:
        crowned[..., 0, :] = most
    return crowned


def powers(tensor: Tensor) -> Tensor:
    """Powers of two near the numbers of a floating tensor, of their signs."""
    return torch.where(tensor == 0, tensor, tensor.sign() * torch.exp2(tensor.abs().log2().round()))


def drawn(natural: list[Any], names: Collection[str], divisors: Collection[int] = ()) -> Iterator[list[Any]]:
    """Inputs of few digits, then with one of them powers of two, by which some operator of these may divide.

    Then such whose largest elements are the ``divisors``: what a row is quantised by, its largest over 127, is one.
    """
    leaves, structure = tree_flatten(natural)
    few = [rounded(t) for t in leaves]
    yield tree_unflatten(few, structure)
    for divisor in sorted(divisors, reverse=True)[:MOST_DIVISORS] if any(map(computes, leaves)) else ():
        yield tree_unflatten([_crowned(t, divisor) for t in few], structure)
    for n, t in enumerate(leaves if not DIVIDES.isdisjoint(names) else ()):
        if computes(t):
            yield tree_unflatten([*few[:n], powers(t), *few[n + 1 :]], structure)


def _floats(value: Any) -> list[Tensor]:
    return [t for t in tree_leaves(value) if isinstance(t, Tensor) and t.is_floating_point()]


def _functional(function: Any) -> Any:
    """An operator, or in place of one that changes what it is given the one that does not: it is called again."""
    name = str(function).split(".")[1]
    packet = getattr(torch.ops.aten, name.rstrip("_"), None) if function._schema.is_mutable else None
    return getattr(packet, function._overloadname, function) if packet else function


def _to_powers(name: str, args: Sequence[Any], out: Any) -> bool:
    """Whether it divides by one number, and all quotients are powers of two, be they products with its reciprocal."""
    by = args[1] if name == "div" and len(args) > 1 else None
    if isinstance(by, Tensor) or not by or not isinstance(out, Tensor):
        return False
    one = torch.tensor(float(by))
    whole = bool((torch.frexp(out.abs()).mantissa == 0.5).all()) and float(one * (1 / one)) == 1.0
    return whole and torch.equal(out.double() * float(by), args[0].double())


def _halves(name: str, args: Sequence[Any]) -> bool:
    """Whether it divides by powers of two only, or takes a square."""
    if name == "pow":
        return len(args) > 1 and args[1] in (1, 2)
    if name not in DIVIDES or (name == "div" and len(args) < 2):
        return False
    divisor = args[-1] if name == "reciprocal" else args[1]
    by = divisor if isinstance(divisor, Tensor) else torch.tensor(float(divisor))
    return bool((torch.frexp(by.abs()).mantissa == 0.5).all()) if by.is_floating_point() else False
