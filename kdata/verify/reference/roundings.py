"""Where a reference rounds to half precision on its way, an ulp of float32 decides which way: both are right.

``(x * scale).bfloat16().float()`` takes what is near the middle of two numbers of bfloat16 up or down as float32 came
to it, and an honest kernel comes to it in another order. Inputs moved by some ulps do not show that where they are
rounded before anything else, and show too much where a kernel rounds them, too. So what operators make of them is moved
instead, before it is rounded. In the reference's child, and beside the baselines.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.candidate.operators import ALLOWED, MOVES
from kdata.verify.reference.probe import HALVES, PRODUCTS
from kdata.verify.reference.values import computes, integral
from kdata.verify.tolerances import ULPS

TURNS = (1, 2, 3)  # of how many operators each, one goes the other way: one operator may undo what others did
COUNTING = frozenset({"arange", "linspace"})
EQUALS = frozenset({"eq", "ne"})
SUMMED = (*PRODUCTS, "sum", "mean", "norm")  # of terms that may be larger than what is left of them


def either_way(answer: Callable[[], list[Any]]) -> Iterator[list[Any]]:
    """What a reference answers where all it computes is some ulps of float32 larger before it is rounded, or smaller.

    ``answer``: runs it; may raise what it raises.
    """
    for turn in TURNS:
        for sign in (1, -1):
            with Nudged(sign, turn):
                found = answer()
            yield found


def nudge(
    inputs: list[Any], number: int = 0, names: Collection[str] = ()
) -> contextlib.AbstractContextManager[Any]:  # fmt: skip
    """What to run a reference in, time after time, to see what rounding does to it beyond an ulp of its inputs.

    Integers have none, and nor have places that it counts itself, as its ``names`` of operators tell: what is made of
    them moves by an ulp instead. Angles of a sequence's last elements are as far off as these are many.
    """
    if COUNTING.isdisjoint(names) and not any(map(integral, tree_leaves(inputs))):
        return contextlib.nullcontext()
    return Nudged((1, -1)[number % 2], TURNS[number // 2 % len(TURNS)], 1)


def but_labels(move: Callable[[Any], Any], inputs: list[Any], names: Collection[str]) -> list[Any]:
    """The inputs moved, but for those of whole numbers beside others where a reference asks what something is equal to.

    A label of a loss that is one is one for every kernel, and an ulp from it is none of them.
    """
    floats = [t for t in tree_leaves(inputs) if computes(t)]
    whole = [t for t in floats if bool((t == t.round()).all())]
    still = {id(t) for t in whole} if len(whole) < len(floats) and not EQUALS.isdisjoint(names) else ()
    moved: list[Any] = tree_map(lambda t: t if id(t) in still else move(t), inputs)
    return moved


class Nudged(TorchDispatchMode):
    """Moves what every operator computes by some ulps, every so many one the other way; computes halves in float32.

    What only moves elements, or converts them, moves by nothing.
    """

    def __init__(self, sign: int, turn: int, ulps: int = ULPS) -> None:
        super().__init__()
        self._by, self._turn, self._count = sign * ulps * torch.finfo(torch.float32).eps, turn, 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out, name = function(*args, **kwargs), str(function).split(".")[1]
        if name in ALLOWED | MOVES or function._schema.is_mutable or not _floating((args, kwargs)):
            return out
        given, named = tree_map(_wide, (args, kwargs))
        try:
            wide = function(*given, **named)
        except (NotImplementedError, RuntimeError, TypeError):  # it is said for the types it was given only
            return out
        self._count += 1
        moved = iter([self._moved(*pair, name) for pair in zip(tree_leaves(out), tree_leaves(wide), strict=True)])
        return tree_map(lambda _: next(moved), out)

    def _moved(self, found: Any, wide: Any, name: str) -> Any:
        if not isinstance(found, Tensor) or found.dtype not in (*HALVES, torch.float32) or not found.numel():
            return found
        scale = wide.abs()
        if any(part in name for part in SUMMED):  # where a few elements are much larger than the others
            scale = scale.clamp(min=scale.median())
        elif found.dtype in HALVES:  # of several steps in one, as gelu's: 1 + erf(x)
            scale = scale.clamp(min=scale.square().mean().sqrt())
        moved = wide + (self._by if self._count % self._turn == 0 else -self._by) * scale
        return torch.where(torch.isfinite(moved), moved, wide).to(found.dtype)


def _floating(value: Any) -> bool:
    return any(isinstance(t, Tensor) and t.is_floating_point() for t in tree_leaves(value))


def _wide(value: Any) -> Any:
    if isinstance(value, Tensor) and value.dtype in HALVES:
        return value.float()
    return torch.float32 if value in HALVES else value
