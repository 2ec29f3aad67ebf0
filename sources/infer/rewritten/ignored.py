"""Inputs that a module takes and does not look at: they are given as None."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn

from sources.infer.inputs import Plain, all_tensors, draw, edited
from sources.infer.running.check import leaves
from sources.infer.running.memory import bounded
from sources.infer.running.progress import Budget, Progress
from sources.infer.running.reshaped import same
from sources.infer.runs import Runs
from sources.infer.search import Solution


def without_ignored(solution: Solution, runs: Runs) -> Solution:
    """The solution with None for each tensor without which the module computes the same from the others."""
    paths = [path for path, _ in all_tensors(solution.specs)]
    if len(paths) < 2:
        return solution
    try:
        module = runs.module(solution.arguments)
    except Exception:  # noqa: BLE001 - the check tells what it is that is constructed once and not twice
        return solution
    modes = [(part, part.training) for part in module.modules()]
    try:
        return _without_each(solution, module.eval(), paths)
    except Exception:  # noqa: BLE001 - the check tells what it is that runs once and not twice
        return solution
    finally:
        for part, mode in modes:
            part.training = mode


def _without_each(solution: Solution, module: nn.Module, paths: list[tuple[int, ...]]) -> Solution:
    torch.manual_seed(0)
    given = [draw(spec, roughly=True) for spec in solution.specs]
    before = _results(module, given)
    for path in paths:
        less = _without(given, path)
        try:
            after = _results(module, less)
        except Exception:  # noqa: BLE001, S112 - it looks at this one
            continue
        if same(after, before):
            given, solution = less, Solution(solution.arguments, edited(solution.specs, path, Plain(None)))
    return solution


def _without(given: Any, path: tuple[int, ...]) -> Any:
    """Inputs with None in one place of them, which may be inside of lists, tuples and dictionaries."""
    if not path:
        return None
    parts = list(given.values() if isinstance(given, dict) else given)
    parts[path[0]] = _without(parts[path[0]], path[1:])
    return dict(zip(given, parts, strict=True)) if isinstance(given, dict) else type(given)(parts)


def _results(module: torch.nn.Module, given: list[Any]) -> list[torch.Tensor]:
    torch.manual_seed(0)
    with torch.no_grad(), bounded(), Progress(Budget()):
        return list(leaves(module(*copy.deepcopy(given))))
