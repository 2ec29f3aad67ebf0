"""Scores of products of which one leads, and all others are next to nothing beside it. In the reference's child only.

What ``dominated`` does where a softmax is of an input itself is done here where it is of products, as in attention: one
key has such a score that a block of the others is below half an ulp of it, and their sum is not. Who carries the sum
of a softmax in half precision stays where it began. Queries, values and all else are ones, and what a key's line has to
be for that is asked of the reference: scores follow from it in proportion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from kdata.verify.reference.cancelling import HALVES
from kdata.verify.reference.dominated import BLOCK, FEWEST, NEARLY
from kdata.verify.reference.draws import labels
from kdata.verify.reference.values import computes

SHARES = frozenset({"_softmax", "_safe_softmax", "_log_softmax", "logsumexp"})
ATTENTION = "attention"  # part of the names of operators that make scores themselves
FLAT = 1e-3  # a lead below it follows from nothing
MOST = 1e4  # the largest number that leads
NEAR = 0.1  # of a lead, by which it may be off, in most of the rows
Answer = Callable[[list[Any]], Any]


class Scores(TorchDispatchMode):
    """Keeps the first scores that a softmax is of, and along which dimension."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Tensor | None = None
        self.dim = -1

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(function).split(".")[1]
        if self.found is None and name in SHARES and len(args) > 1:
            self.found, self.dim = args[0].double(), args[1] if isinstance(args[1], int) else args[1][0]
        elif self.found is None and ATTENTION in name and _fit(*args[:2]):
            scale = (kwargs or {}).get("scale") or args[0].shape[-1] ** -0.5
            self.found = args[0].double() @ args[1].double().mT * scale
        return function(*args, **(kwargs or {}))


def led(inputs: list[Any], answer: Answer) -> list[Any] | None:
    """The inputs with such scores; None where there are none of so many, or they are an input's own elements."""
    if not any(computes(t) and t.dtype in HALVES for t in inputs):
        return None
    with Scores() as scores:
        answer(inputs)
    found = scores.found
    if found is None or not found.ndim or found.shape[scores.dim] < FEWEST or any(_like(t, found) for t in inputs):
        return None
    tried = (_led(inputs, place, dim, answer) for place, dim in _places(inputs, found.shape[scores.dim]))
    return next((changed for changed in tried if changed is not None), None)


def _places(inputs: list[Any], length: int) -> Iterator[tuple[int, int]]:
    """Which input has so many lines, along which dimension."""
    for place, t in enumerate(inputs):
        if computes(t) and t.dtype in HALVES and t.ndim > 1:
            yield from ((place, dim) for dim, size in enumerate(t.shape) if size == length)


def _led(inputs: list[Any], place: int, dim: int, answer: Answer) -> list[Any] | None:
    """The inputs with the first line of one such that its scores lead; None where none do."""
    still, keys = labels(inputs), inputs[place]
    rest = [t if n in still or not computes(t) else torch.ones_like(t) for n, t in enumerate(inputs)]

    def leading(value: float) -> list[Any]:
        changed = torch.zeros_like(keys, memory_format=torch.contiguous_format)
        changed.select(dim, 0).fill_(value)
        return [*rest[:place], changed, *rest[place + 1 :]]

    wanted = -math.log(NEARLY * torch.finfo(keys.dtype).eps / 2 / BLOCK)
    unit = _lead(leading(1.0), answer)
    if unit is None or not abs(size := float(unit.median())) > FLAT or abs(value := wanted / size) > MOST:
        return None
    changed = leading(value)
    lead = _lead(changed, answer)
    near = lead is not None and float((lead - wanted).abs().median()) < NEAR * wanted
    return changed if near else None


def _lead(inputs: list[Any], answer: Answer) -> Tensor | None:
    """How much larger the first score of each row is than the second one; None where there are none."""
    try:
        with Scores() as scores:
            answer(inputs)
    except Exception:  # noqa: BLE001 - outside its domain
        return None
    if scores.found is None:
        return None
    lead = scores.found.select(scores.dim, 0) - scores.found.select(scores.dim, 1)
    lead = lead[lead.isfinite()]
    return lead if lead.numel() else None


def _fit(*args: Any) -> bool:
    """Whether they are queries and keys, as many heads of the ones as of the others."""
    plain = len(args) > 1 and all(isinstance(t, Tensor) and t.ndim > 1 for t in args)
    return plain and args[0].shape[:-2] == args[1].shape[:-2] and args[0].shape[-1] == args[1].shape[-1]


def _like(value: Any, scores: Tensor) -> bool:
    return isinstance(value, Tensor) and value.shape == scores.shape
