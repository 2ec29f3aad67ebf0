"""Whether what runs is worth keeping: a first look, so that the search goes on where it is not.

``sources.infer.running.check`` has the last word, in a fresh process.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from sources.infer.inputs import Plain, Specs, all_tensors, draw, edited
from sources.infer.running.check import all_finite, leaves
from sources.infer.running.initial import known
from sources.infer.running.memory import bounded
from sources.infer.running.progress import Budget, Progress
from sources.infer.running.reshaped import same, shape_matters

NOT_FINITE, CONSTANT, IGNORES, RANDOM = "not finite", "output constant", "output ignores its input", "nondeterministic"
OUT_OF_RANGE = "index out of range"
ALONE = "softmax of one number"  # all that is behind it does not matter
# What a program says of rows of words, where some words were counted, or taken out, of one more than of another.
RAGGED = re.compile(
    r"expected sequence of length \d+ at dim \d+ \(got|shape '\[\d+, -1(, \d+)*\]' is invalid for input"
    r"|must be sorted in decreasing order"  # of what is counted: as many in each row are sorted
)
Outputs = list[torch.Tensor]


def flaw(module: nn.Module, specs: Specs, result: Any, budget: Budget) -> str:
    """What is wrong with a module's answer to inputs with which it runs, "" for nothing."""
    outputs = list(leaves(result))
    if not known(module):
        return ""
    if not finite(module, result):
        return NOT_FINITE
    plain = [t for t in outputs if t.numel() and not t.is_complex()]
    if sum(t.numel() for t in plain) > 1 and all(bool((t == plain[0].flatten()[0]).all()) for t in plain):
        return CONSTANT
    run = functools.partial(_run, module, specs, budget)
    before, other = run(seed=1), run(seed=2)
    if before is None or other is None:
        return ""
    if _overruns(module, specs, budget):
        return OUT_OF_RANGE
    if message := _by_luck(module, specs, budget):
        return message
    if not same(before, other):
        training = module.training
        try:
            module.eval()
            before = run(seed=1)
            return _ignored(module, specs, run, before) if same(before, run(seed=2)) else RANDOM
        finally:
            module.train(training)
    return _ignored(module, specs, run, before)


def finite(module: nn.Module, result: Any) -> bool:
    """Whether all of a module's answer is finite, or its weights tell nothing of that."""
    return not known(module) or all_finite(leaves(result))


def _ignored(module: nn.Module, specs: Specs, run: Callable[..., Outputs | None], before: Outputs | None) -> str:
    """``before`` is of ``seed`` 1. An input that could be None is no flaw, see ``sources.infer.rewritten.ignored``.

    Nor is one whose shape alone is read, beside others.
    """
    every = all_tensors(specs)
    read = 0  # tensors whose values are
    for number, (path, tensor) in enumerate(every):
        if tensor.kind == "full" or not same(before, run(seed=1, other=number)):
            read += 1
        elif not (len(every) > 1 and _dispensable(module, specs, run, before, number, path)):
            return IGNORES
    return "" if read or not every else IGNORES


def _dispensable(
    module: nn.Module, specs: Specs, run: Callable[..., Outputs | None], before: Outputs | None, number: int,
    path: tuple[int, ...],
) -> bool:  # fmt: skip
    """Whether an input whose values are not read may be None, or matters by its shape."""
    if same(before, run(seed=1, instead=edited(specs, path, Plain(None)))):
        return True
    torch.manual_seed(0)
    inputs = [draw(spec, roughly=True) for spec in specs]

    def answer(given: list[Any]) -> Outputs:
        torch.manual_seed(1)
        with torch.no_grad(), bounded(), Progress(Budget()):
            return list(leaves(module(*given)))

    return shape_matters(inputs, leaves, number, answer, before or [])


def _overruns(module: nn.Module, specs: Specs, budget: Budget) -> bool:
    """Whether the largest numbers that may be drawn as indices are too large: those drawn so far were lucky."""
    if not any(t.kind == "int" for _, t in all_tensors(specs)):
        return False
    largest = specs
    for path, t in all_tensors(specs):
        if t.kind == "int":
            largest = edited(largest, path, replace(t, kind="full", high=max(0, t.high - 1)))
    torch.manual_seed(0)
    try:
        with torch.no_grad(), bounded(), Progress(budget):
            module(*(draw(spec, roughly=True) for spec in largest))
    except Exception as error:  # noqa: BLE001 - numbers that are all the same may well be wrong for another reason
        return isinstance(error, IndexError) or "out of bounds" in str(error)  # of a scatter it is a RuntimeError
    return False


def _by_luck(module: nn.Module, specs: Specs, budget: Budget) -> str:
    """With what other words fail: by chance as many were special in each row, or a multiple of the rows were."""
    for seed in (2, 3) if any(t.kind == "int" for _, t in all_tensors(specs)) else ():
        torch.manual_seed(seed)
        try:
            with torch.no_grad(), bounded(), Progress(budget):
                module(*(draw(spec, roughly=True) for spec in specs))
        except Exception as error:  # noqa: BLE001 - other failures are other rules'
            return str(error) if RAGGED.search(str(error)) else ""
    return ""


def _run(
    module: nn.Module, specs: Specs, budget: Budget, seed: int, other: int | None = None, instead: Specs | None = None
) -> Outputs | None:
    """Outputs for the inputs, or others ``instead``; with one drawn anew if ``other`` is its number; None: it fails."""
    torch.manual_seed(0)
    inputs = [draw(spec, roughly=True) for spec in instead or specs]
    if other is not None:
        tensor = list(leaves(inputs))[other]
        torch.manual_seed(7)
        tensor.copy_(draw(all_tensors(specs)[other][1], roughly=True))
    torch.manual_seed(seed)
    try:
        with torch.no_grad(), bounded(), Progress(budget):
            return list(leaves(module(*inputs)))
    except Exception:  # noqa: BLE001 - other values than these do not even run: no flaw
        return None
