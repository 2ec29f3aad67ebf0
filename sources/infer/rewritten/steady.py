"""Modules that draw random numbers unless a flag of their forward is off: it is off then.

``forward(styles, randomize_noise=True)``: what is drawn for each of many layers is more than a task's inputs may be.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from torch import nn

from sources.infer.constructor.constructions import build
from sources.infer.forward.optional import flagged
from sources.infer.inputs import Specs
from sources.infer.running.calls import has_tensor
from sources.infer.running.made import Made, evaluated
from sources.infer.running.progress import Budget
from sources.infer.search import Solution


def steadied(kind: type[nn.Module], namespace: dict[str, Any], solution: Solution) -> Solution:
    """The solution with a flag off without which its module draws; the same where that is none, or draws anyway."""
    if solution.quiet or not any(p.default is True for p in signature(kind.forward).parameters.values()):
        return solution
    try:
        module = build(kind, dict(solution.arguments), namespace, Budget())
        flags = flagged(module, solution.specs, on=False)
    except Exception:  # noqa: BLE001 - the check tells what it is that is constructed once and not twice
        return solution
    if not flags or _quietly(kind, module, solution.specs):
        return solution
    found = next((specs for specs in flags if _quietly(kind, module, specs)), None)
    return solution if found is None else Solution(solution.arguments, found)


def _quietly(kind: type[nn.Module], module: nn.Module, specs: Specs) -> bool:
    answer = evaluated(Made(kind, module), kind, specs)
    return answer is not None and answer[1] and has_tensor(answer[0])
