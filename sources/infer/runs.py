"""Whether a module that ran also runs otherwise: with smaller inputs, fewer layers, other sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from sources.infer.check import UnfitError, Work, dear
from sources.infer.constructions import build
from sources.infer.inputs import draw
from sources.infer.progress import LIGHT_ELEMENTS, LIGHT_FLOPS, Budget
from sources.infer.rehearsal import Rehearsal
from sources.infer.search import Solution, call, has_tensor
from sources.infer.variants import Arguments, defaults_of, halved, of_one, shallower

MAX_HALVINGS = 6
TIES_BUDGET = 6_000  # work spent on finding which sizes belong together, see ``progress.Budget``


class Runs:
    """Whether a module runs with other sizes, as long as the budget lasts."""

    def __init__(self, kind: Any, namespace: Mapping[str, Any], operators: int) -> None:
        """``operators`` that compute are what a task may have."""
        self.kind, self._namespace, self._budget = kind, namespace, Budget(TIES_BUDGET)
        self._operators = operators
        self.dear = False  # whether one call takes so much that few are to be made, as far as ``heavy`` was asked
        self._built: tuple[Arguments, nn.Module, Rehearsal] | None = None  # other inputs often go to the same module

    def __call__(self, solution: Solution) -> bool:
        return self._budget.left >= 0 and self.fits(solution, self._budget)

    def fits(self, solution: Solution, budget: Budget | None = None) -> bool:
        """Whether the module runs, at the cost of a budget of its own unless another is given."""
        budget = budget or Budget()
        if self._built is None or self._built[0] != solution.arguments:
            try:
                module = build(self.kind, dict(solution.arguments), self._namespace, budget)
            except Exception:  # noqa: BLE001 - it does not run, whatever the reason
                return False
            self._built = (solution.arguments, module, Rehearsal(module))
        _, module, rehearsal = self._built
        if self.dear and (foreseen := rehearsal.call(solution.specs, None, light=False)):
            budget.left -= foreseen[0].count
            return False
        _, result, error = call(module, solution.specs, budget)
        return error is None and has_tensor(result)

    def heavy(self, solution: Solution) -> bool:
        """Whether one call takes more than a light one may.

        Raises:
            UnfitError: it has too many operators, or takes more than any task may.
        """
        module = build(self.kind, dict(solution.arguments), self._namespace, Budget())
        torch.manual_seed(0)
        inputs, work = [draw(spec) for spec in solution.specs], Work(self._operators)
        try:
            with torch.no_grad(), work:
                module(*inputs)
        except UnfitError:
            if work.operators > self._operators:
                raise
            return True
        except Exception:  # noqa: BLE001 - the check tells what it is that runs once and not twice
            return False
        finally:
            self.dear = dear(work)
        each = self._operators
        return work.elements > each * LIGHT_ELEMENTS or work.flops > each * LIGHT_FLOPS


def fitted(solution: Solution, runs: Runs) -> Solution:
    """The solution with fewer layers, while it has too many operators, and with inputs no heavier than need be.

    Raises:
        UnfitError: it has too many operators.
    """
    try:
        return lightened(solution, runs)
    except UnfitError:
        shallow = Solution(shallower(solution.arguments, defaults_of(runs.kind)), solution.specs)
        # loops over a sequence
        short = (Solution(solution.arguments, halved(solution.specs, first)) for first in (False, True))
        fewer = next((s for s in (shallow, *short) if s != solution and runs(s)), None)
        if fewer is None:
            raise
        return fitted(fewer, runs)


def lightened(solution: Solution, runs: Runs) -> Solution:
    """The solution with smaller inputs, while it is heavy and smaller ones run."""
    for _ in range(MAX_HALVINGS):
        if not runs.heavy(solution):
            return solution
        specs = solution.specs
        every = (halved(specs), halved(specs, first=True), of_one(specs))
        smaller = (Solution(solution.arguments, s) for s in every)
        fitting = next((s for s in smaller if s != solution and runs.fits(s)), None)
        if fitting is None:
            return solution
        solution = fitting
    return solution
