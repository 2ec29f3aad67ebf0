"""Inputs that are the numbers at which a reference steps, be they as odd as 0.35. In the reference's child only.

``exact`` has numbers of few digits only, and a threshold is seldom one. An input in single precision may be just the
number that ``x > 0.35`` compares it with, though, once that is in single precision, too: so it is in eager and in any
kernel, and so it is to be in the golden. The same goes for ``a - b + 0.3 > 0`` where one of the two is the number and
the other is zero: nothing is rounded there.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference.draws import labels
from kdata.verify.reference.exact import Step, Steps
from kdata.verify.reference.magnitudes import CONDITION, Answer
from kdata.verify.reference.values import computes, finite, near, shifts

SHARE = 0.25  # of the elements that are such a number, or zero beside one
SPREAD, VALUES = 7919, 104729  # primes, by which a random number tells which input holds which one
MOST = 16  # numbers that are tried
Draw = list[Any]


class Single(TorchDispatchMode):
    """Lets a text's numbers be what they are in single precision, though what it computes is in double."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = tree_map(_single, [args, kwargs or {}])
        return function(*args, **kwargs)


def edged(inputs: Draw, numbers: Collection[float], generator: torch.Generator) -> Draw | None:
    """The inputs with such numbers in some places of one, and zeros in these of all others; None without any.

    Of either sign where the input has both.
    """
    leaves, still = tree_leaves(inputs), labels(tree_leaves(inputs))
    moving = [n for n, t in enumerate(leaves) if computes(t) and t.dtype is torch.float32 and n not in still]
    if len(moving) < len([t for t in leaves if computes(t)]) - len(still) or len(leaves) != len(inputs):
        return None
    values = torch.tensor(sorted({abs(n) for n in numbers if n and math.isfinite(n)})[:MOST])
    drawn: dict[torch.Size, Tensor] = {}
    changed = [*inputs]
    for turn, place in enumerate(moving if values.numel() else ()):
        t = leaves[place]
        if t.shape not in drawn:
            drawn[t.shape] = torch.rand(t.shape, generator=generator, dtype=torch.float64)
        random = drawn[t.shape]
        number = values[(random * VALUES).long() % len(values)]
        signs = 1 - 2 * ((random * VALUES * 2).long() % 2) if float(t.min()) < 0 else torch.ones((), dtype=torch.long)
        own = (random * SPREAD).long() % len(moving) == turn
        held = torch.where(own, number * signs, torch.zeros_like(number)).to(t.dtype)
        changed[place] = torch.where(random < SHARE, held, t)
    return changed if moving and values.numel() else None


def met(inputs: Draw, eager: Answer, golden: Answer) -> bool:
    """Whether a reference steps at some elements for sure just there, and everywhere else is beside its steps.

    ``golden``: in double precision, with a text's numbers in single.
    """
    try:
        with Steps() as own:
            one = eager(inputs)
        with Steps() as wide:
            other = golden(inputs)
        if own.lost or wide.lost or len(own.steps) != len(wide.steps):
            return False
        sides = [_met(a, b) for a, b in zip(own.steps, wide.steps, strict=True)]
        return None not in sides and any(sides) and finite(one) and near(one, other, CONDITION)
    except Exception:  # noqa: BLE001 - outside its domain
        return False


def _met(step: Step, golden: Step) -> bool | None:
    """Whether some elements are just at a step for sure; None where some may be on either side."""
    made = step.function(*step.args, **step.kwargs)
    leaves = tree_leaves(step.args)
    moved = map(iter, [*shifts(leaves), *([_off_zero(v, sign) for v in leaves] for sign in (1, -1))])
    ways = [step.function(*tree_map(lambda _, v=v: next(v), step.args), **step.kwargs) for v in moved]
    if not isinstance(made, Tensor):
        return None if any(not _alike(made, way) for way in ways) else False
    stays = torch.ones(made.shape, dtype=torch.bool)
    for way in ways:
        stays &= (way == made) | (way != way) & (made != made)
    if bool(stays.all()):
        return False
    pairs = [(a, b) for a, b in zip(tree_leaves(step.args), tree_leaves(golden.args), strict=True)
             if isinstance(a, Tensor) and a.is_floating_point()]  # fmt: skip
    if step.function is not golden.function or not (step.exact and golden.exact):
        return None
    for a, b in pairs:
        stays = stays | (a.double() == b)
    return True if bool(stays.all()) else None


def _alike(one: Any, other: Any) -> bool:
    pairs = zip(tree_leaves(one), tree_leaves(other), strict=True)
    return all(torch.equal(a, b) for a, b in pairs if isinstance(a, Tensor))


def _off_zero(value: Any, sign: int) -> Any:
    """Zeros have no ulps: they are moved by the least number that is none."""
    least = sign * torch.finfo(value.dtype).tiny if computes(value) else 0.0
    return torch.where(value == 0, torch.full_like(value, least), value) if computes(value) else value


def _single(value: Any) -> Any:
    single = ctypes.c_float(value).value if type(value) is float else value
    return value if type(value) is float and math.isinf(single) else single
