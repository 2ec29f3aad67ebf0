"""Distributions of inputs beyond the task's own. In the reference's child only.

Each keeps what a task may promise about its inputs: zeros stay zeros (triangles, masks), signs stay signs, integers
stay what they are; and none is used where the reference itself is not finite or not well-conditioned on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from kdata.verify.reference import again, views
from kdata.verify.reference.styles import BARELY, COUNTED, GRADIENTS, KINKED
from kdata.verify.reference.values import computes, ends, integral, sizes_of

DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16}
LOW, HIGH = -2.0, 2.3  # decimal exponents of ``wide``
LONG, TAIL = 64, 32.0  # elements from which on a dimension has a tail, and by how much it is larger
FAINTLY = 1e-8  # squares of such numbers are no zeros, but less than what is added lest zero divide
LIFT, OFFSET, SMALL, HUGE, FAR, FARTHER, TINY, JOG = 5.0, 100.0, 1e-4, 1e4, 1e3, 1e5, 1e-5, 1e-6
NEARER = 10.0
NARROW, SPREAD = 16, 8  # bits of integers that are small beside sums of them, and how many of the largest are drawn
AS_THEY_ARE = ("natural", *(style for style in GRADIENTS if style != KINKED), "argument", "number", COUNTED,
               "batch", "single")  # fmt: skip
ODDITIES = (math.nan, math.inf, -math.inf)
RUNS = 4  # into which bools are cut, so that two of these hold one value
ZEROS = 0.125  # share of an input's elements
MOST_ODD = 8  # elements of an input for each that is not finite
Change = Callable[[torch.Tensor], torch.Tensor]
Style = Callable[[list[Any], torch.Generator], list[Any] | None]


def draw(style: str, inputs: list[Any], generator: torch.Generator) -> list[Any] | None:
    """The inputs in a style, None where it does not apply.

    - centred: normal in place of what is never negative, on which a relu is the identity;
    - nearly, barely: the same but for a tenth, or a thousandth, of the elements, see ``again``;
    - wide: magnitudes over four decades, where exponentials without a maximum taken off overflow;
    - offset: far from zero, where sums of squares less squares of sums cancel; moved: nearer, for norms, of which
      libraries have such;
    - ties: rounded to multiples of half their rms, where maxima tie and what is divided by may be zero;
    - small: where the epsilon of a norm decides, and where it stands;
    - flat: long runs of False, and of True, in inputs of bools, where blocks of a kernel see no other;
    - late: in rows of bools none but the last is True, or False, so that all blocks before it see no other;
    - laden: narrow integers that are nearly the largest there are: sums of many are beyond what float32 holds;
    - crowded: integers that all are one number: what has a place for some of each runs over;
    - corners: a quarter each rounded to halves, without sign, of one value, and tiny;
    - huge: beyond what any input is usually; below, above: far from zero on one side throughout, where maxima and
      minima that start at a number are wrong; deep, steep: likewise, a hundred times as far, beyond all numbers but
      those from a million on that published kernels start at; all these see ``spared``;
    - lifted, raised: every other input five above zero, where what decays does so slowly;
    - faint, dim: every other input a hundred-millionth of its size, as moments are beside what they divide; hollow,
      void: nothing but zeros;
    - sliced: the same values in memory in which each row is followed by some that are not the tensor's;
    - strided: the same values in memory whose last two dimensions are swapped; beside, pairs: those of some inputs;
      rearranged: the two before the last one;
    - spaced: those of all inputs, integers too, in memory in which each number is followed by another;
    - nonfinite: NaN and both infinities in three places of the first input that holds enough;
    - tailed: the last of each dimension 32 times as large, so that it shows in whatever is summed;
    - float16, bfloat16: in that dtype.
    """
    floats = [t for t in tree_leaves(inputs) if computes(t)]
    if style in OF_INTEGERS:
        return OF_INTEGERS[style](inputs, generator)
    if style == BARELY:
        return again.barely(inputs, generator)
    if style in AS_THEY_ARE or not floats:
        return inputs if style in AS_THEY_ARE else None
    if style == "centred":
        return None if any(float(t.min()) < 0 for t in floats) else _map(inputs, lambda t: _normal(t, generator))
    if style == "nearly":
        return again.nearly(inputs, generator)
    if style == "wide":
        return _far(inputs, lambda t: t * _scales(t, generator), labels(tree_leaves(inputs)))
    if style in OTHERS:
        return OTHERS[style](inputs, generator)
    by = NEARER if style == "moved" else OFFSET
    return None if any(bool((t == 0).any()) for t in floats) else _map(inputs, lambda t: t + by)


def centred_apart(
    inputs: list[Any], bears: Callable[[list[Any]], bool], generator: torch.Generator
) -> list[Any] | None:
    """The inputs with such as are never negative made normal, each by itself, where the task bears it; None for none.

    Those that hold zeros or whole numbers only stay: they are masks, one-hot rows and labels as often as not.
    """
    leaves, form = tree_flatten(inputs)
    changed = [*leaves]
    for place, leaf in enumerate(leaves):
        if computes(leaf) and float(leaf.min()) > 0 and not bool((leaf == leaf.round()).all()):
            tried = [*changed[:place], _normal(leaf, generator).to(leaf.dtype), *changed[place + 1 :]]
            changed = tried if bears(tree_unflatten(tried, form)) else changed
    if all(a is b for a, b in zip(changed, leaves, strict=True)):
        return None
    found: list[Any] = tree_unflatten(changed, form)
    return found


def holding(
    inputs: list[Any], values: Sequence[float], generator: torch.Generator, zeros: bool = True
) -> list[Any]:  # fmt: skip
    """The inputs with these values, and less these where there are negative ones, at some places of each.

    Some rows hold one of them and ``zeros``, so that what is computed of these rows takes these values. The first and
    the last element of an input stay. Labels of zeros and ones hold none beyond one.
    """

    def held(tensor: torch.Tensor) -> torch.Tensor:
        signs = (1.0, -1.0) if float(tensor.min()) < 0 else (1.0,)
        most = 1.0 if tensor.numel() > 1 and _of_two(tensor) else math.inf
        signed = [sign * v for v in values for sign in signs if v <= most]
        wanted = torch.tensor(signed, dtype=tensor.dtype)[: tensor.numel() // 2]
        changed = tensor.clone(memory_format=torch.contiguous_format)
        changed.view(-1)[torch.randperm(tensor.numel(), generator=generator)[: len(wanted)]] = wanted
        rows = changed.view(-1, tensor.shape[-1]) if tensor.ndim > 1 and zeros else changed.new_empty(0, 1)
        chosen = torch.randperm(len(rows), generator=generator)[: min(len(rows) // 2, len(wanted))]
        rows[chosen] = 0.0
        rows[chosen, chosen % rows.shape[1]] = wanted[: len(chosen)]
        changed.view(-1)[[0, -1]] = tensor.reshape(-1)[[0, -1]]  # by which caches know inputs again
        return changed

    return _map(inputs, held)


def zeroed(inputs: list[Any], generator: torch.Generator) -> list[Any] | None:
    """The inputs with zeros in an eighth of their places, those of one shape in the same ones; None without any."""
    chosen: dict[torch.Size, torch.Tensor] = {}

    def change(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.shape not in chosen:
            chosen[tensor.shape] = torch.rand(tensor.shape, generator=generator) < ZEROS
        return tensor.masked_fill(chosen[tensor.shape], 0.0)

    return _map(inputs, change) if any(map(computes, tree_leaves(inputs))) else None


def jogged(value: Any, generator: torch.Generator) -> Any:
    """A floating tensor with each element moved by about a millionth of their rms, zeros too."""
    if not computes(value):
        return value
    noise = torch.randn(value.shape, generator=generator) * value.double().square().mean().sqrt() * JOG
    return (value + noise).to(value.dtype)


def thinned(value: Any, generator: torch.Generator) -> Any:
    """A floating tensor with an eighth of its elements set to zero, as a kernel would see it that drops terms."""
    if not computes(value):
        return value
    return value.masked_fill(torch.rand(value.shape, generator=generator) < 0.125, 0.0)


def _map(inputs: list[Any], change: Change) -> list[Any]:
    changed: list[Any] = tree_map(lambda t: change(t).to(t.dtype) if computes(t) else t, inputs)
    return changed


def _normal(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.randn(tensor.shape, generator=generator)


def _flat(inputs: list[Any], _: torch.Generator) -> list[Any] | None:
    """A quarter of each input of bools False, the next one True; None where there is none that holds enough."""

    def run(value: Any) -> Any:
        if not (isinstance(value, torch.Tensor) and value.dtype is torch.bool and value.numel() >= RUNS):
            return value
        parts = list(value.reshape(-1).tensor_split(RUNS))
        return torch.cat([torch.zeros_like(parts[0]), torch.ones_like(parts[1]), *parts[2:]]).reshape(value.shape)

    return _where_changed(run, inputs)


def _late(inputs: list[Any], _: torch.Generator) -> list[Any] | None:
    """Each row of an input of bools False but for its last one, every other row True; None where there are none."""

    def row(value: Any) -> Any:
        if not (isinstance(value, torch.Tensor) and value.dtype is torch.bool and value.ndim and value.shape[-1] > 1):
            return value
        last = torch.arange(value.shape[-1]) == value.shape[-1] - 1
        odd = torch.arange(value.numel() // last.numel()) % 2 == 1
        return (last ^ odd[:, None]).reshape(value.shape)

    return _where_changed(row, inputs)


def _where_changed(change: Callable[[Any], Any], inputs: list[Any]) -> list[Any] | None:
    changed: list[Any] = tree_map(change, inputs)
    return changed if any(a is not b for a, b in zip(*map(tree_leaves, (changed, inputs)), strict=True)) else None


def _laden(inputs: list[Any], generator: torch.Generator) -> list[Any] | None:
    """Integers of few bits that are neither truths nor none become some of the largest there are."""

    def drawn(tensor: Any) -> Any:
        if not integral(tensor) or torch.iinfo(tensor.dtype).bits > NARROW or int(tensor.max()) <= 1:
            return tensor
        less = torch.randint(SPREAD, tensor.shape, generator=generator)
        return torch.iinfo(tensor.dtype).max - less.to(tensor.dtype)

    return _where_changed(drawn, inputs)


def _crowded(inputs: list[Any], _: torch.Generator) -> list[Any] | None:
    """Integers all become the one that there is most often, but for ends of what lies one after another."""
    sizes = sizes_of(inputs)

    def alike(tensor: Any) -> Any:
        if not integral(tensor) or ends(tensor, sizes):
            return tensor
        return torch.full_like(tensor, int(tensor.flatten().mode().values))

    return _where_changed(alike, inputs)


def _tied(inputs: list[Any], _: torch.Generator) -> list[Any]:
    def rounded(tensor: torch.Tensor) -> torch.Tensor:
        step = float(tensor.double().square().mean().sqrt()) / 2
        return (tensor / step).round() * step + 0.0 if step > 0 else tensor  # of one sign of zero

    return _far(inputs, rounded, labels(tree_leaves(inputs)))  # which are of few values, and none beyond one


def _small(inputs: list[Any], _: torch.Generator) -> list[Any]:
    return _map(inputs, lambda t: t * SMALL)


def _corners(inputs: list[Any], _: torch.Generator) -> list[Any]:
    def cornered(tensor: torch.Tensor) -> torch.Tensor:
        parts = list(tensor.reshape(-1).tensor_split(4))
        parts[0] = (2 * parts[0]).round() / 2
        parts[1] = parts[1].abs()
        parts[2] = torch.where(parts[2] == 0, parts[2], parts[2][-1:])
        parts[3] = parts[3] * TINY
        return torch.cat(parts).reshape(tensor.shape)

    return _map(inputs, cornered)


def _huge(inputs: list[Any], _: torch.Generator) -> list[Any]:
    return _far(inputs, lambda t: t * HUGE)


def _far(inputs: list[Any], change: Change, but: set[int] | None = None) -> list[Any]:
    """All inputs changed but some: those that are spared and labels where none are named."""
    leaves = tree_leaves(inputs)
    still = {id(leaves[n]) for n in (spared(leaves) | labels(leaves) if but is None else but)}
    return _map(inputs, lambda t: t if id(t) in still else change(t))


def labels(leaves: Sequence[Any]) -> set[int]:
    """Which floating inputs are of zeros and ones, and would be no labels any more at another magnitude.

    That one between them is a share of both is seen where all inputs are small.
    """
    return {n for n, leaf in enumerate(leaves) if computes(leaf) and leaf.numel() > 1 and _of_two(leaf)}


def _of_two(tensor: torch.Tensor) -> bool:
    return bool(((tensor == 0) | (tensor == 1)).all()) and bool((tensor != tensor.flatten()[0]).any())


def spared(leaves: Sequence[Any]) -> set[int]:
    """Which inputs stay as they are while others are far from what is usual.

    Of queries, keys and values (three blocks of matrices and more) every other one: a huge query times a huge key is
    beyond the -1e6 that published kernels add where a mask is.
    """
    blocks = [n for n, leaf in enumerate(leaves) if computes(leaf) and leaf.ndim > 2]
    return set(blocks[1::2]) if len(blocks) > 2 else set()


def _below(inputs: list[Any], _: torch.Generator, far: float = FAR) -> list[Any] | None:
    signed, far = any(float(t.min()) < 0 for t in tree_leaves(inputs) if computes(t)), _bearable(inputs, far)
    return _far(inputs, lambda t: -_beyond(t, far) if float(t.min()) < 0 else t) if signed else None


def _above(inputs: list[Any], _: torch.Generator, far: float = FAR) -> list[Any]:
    far = _bearable(inputs, far)
    return _far(inputs, lambda t: _beyond(t, far))


def _bearable(inputs: list[Any], far: float) -> float:
    """How far queries may be, so that their products with usual keys stay within what is added where a mask is."""
    return min(far, HUGE) if spared(tree_leaves(inputs)) else far


def _lifted(first: int) -> Style:
    """Every other input of either sign, and no mask, five above zero: gates that are open throughout."""

    def change(inputs: list[Any], _: torch.Generator) -> list[Any] | None:
        leaves = tree_leaves(inputs)
        signed = [n for n, t in enumerate(leaves) if computes(t) and float(t.min()) < 0 and bool((t != 0).all())]
        return _every_other(inputs, signed, first, lambda t: t + LIFT)

    return change


def _faint(first: int, change: Change = lambda t: t * FAINTLY, least: int = 2) -> Style:
    """Every other input of several numbers, and no labels, far smaller than those beside it, or nothing but zeros.

    Lines of zeros do not show what a kernel makes of a norm of the whole, be there one input only.
    """

    def changed(inputs: list[Any], _: torch.Generator) -> list[Any] | None:
        leaves = tree_leaves(inputs)
        still = labels(leaves)
        several = [n for n, t in enumerate(leaves) if computes(t) and t.numel() > 1 and n not in still and t.any()]
        return _every_other(inputs, several, first, change, least)

    return changed


def _every_other(inputs: list[Any], places: list[int], first: int, change: Change, least: int = 2) -> list[Any] | None:
    """The inputs with every other one of these changed; None where there are fewer than ``least``."""
    still = {*range(len(tree_leaves(inputs)))} - {*places[first::2]}
    return _far(inputs, change, still) if len(places) >= least else None


def _beyond(tensor: torch.Tensor, far: float) -> torch.Tensor:
    """Magnitudes no smaller than ``far`` times the usual one; zeros stay."""
    usual = tensor.double().square().mean().sqrt()
    return torch.where(tensor == 0, tensor, (tensor.abs() + usual) * far)


def _nonfinite(inputs: list[Any], generator: torch.Generator) -> list[Any] | None:
    chosen = next((t for t in tree_leaves(inputs) if computes(t) and t.numel() >= MOST_ODD * len(ODDITIES)), None)
    if chosen is None:
        return None
    changed = chosen.clone(memory_format=torch.contiguous_format)
    where = torch.randperm(chosen.numel(), generator=generator)[: len(ODDITIES)]
    changed.view(-1)[where] = torch.tensor(ODDITIES, dtype=chosen.dtype)
    odd: list[Any] = tree_map(lambda t: changed if t is chosen else t, inputs)
    return odd


def _cast(dtype: torch.dtype) -> Style:
    def cast(inputs: list[Any], _: torch.Generator) -> list[Any] | None:
        if not any(computes(t) and t.dtype is torch.float32 for t in tree_leaves(inputs)):
            return None
        changed: list[Any] = tree_map(lambda t: t.to(dtype) if computes(t) else t, inputs)
        return changed

    return cast


def _scales(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return 10.0 ** (LOW + (HIGH - LOW) * torch.rand(tensor.shape, generator=generator))


def _tailed(tensor: torch.Tensor) -> torch.Tensor:
    changed = tensor.clone(memory_format=torch.contiguous_format)
    for dim, size in enumerate(tensor.shape):
        changed.narrow(dim, size - 1, int(size >= LONG)).mul_(TAIL)
    return changed


OF_INTEGERS: dict[str, Style] = {
    "flat": _flat,
    "late": _late,
    "laden": _laden,
    "crowded": _crowded,
}  # bools are integers of one bit
OTHERS: dict[str, Style] = {"corners": _corners, "huge": _huge, "below": _below, "above": _above,
                            "deep": partial(_below, far=FARTHER), "steep": partial(_above, far=FARTHER),
                            "lifted": _lifted(1), "raised": _lifted(0),
                            "faint": _faint(1), "dim": _faint(0), "hollow": _faint(1, torch.zeros_like),
                            "void": _faint(0, torch.zeros_like, least=1), "ties": _tied, KINKED: _tied, "small": _small,
                            "strided": views.strided, "sliced": views.sliced, "rearranged": views.rearranged,
                            "spaced": views.spaced,
                            "beside": views.beside(1), "pairs": views.beside(2), "nonfinite": _nonfinite,
                            "tailed": lambda inputs, _: _far(inputs, _tailed, labels(tree_leaves(inputs))),
                            **{name: _cast(dtype) for name, dtype in DTYPES.items()}}  # fmt: skip
