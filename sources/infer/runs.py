"""Whether a module that ran also runs otherwise: with smaller inputs, fewer layers, other sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from sources.infer.constructor.constructions import build
from sources.infer.forward.variants import Arguments, defaults_of, halved, of_one, shallower, shortened
from sources.infer.input_search import LIGHT
from sources.infer.inputs import Specs, draw, elements
from sources.infer.running.calls import call, forget, has_tensor
from sources.infer.running.check import TOO_LARGE, UnfitError, Work, dear
from sources.infer.running.memory import bounded
from sources.infer.running.progress import LIGHT_ELEMENTS, LIGHT_FLOPS, LIGHT_OPERATORS, Budget, Progress, out_of_memory
from sources.infer.running.rehearsal import Rehearsal
from sources.infer.running.worth import finite
from sources.infer.search import Solution

MAX_HALVINGS = 6
COSTLY_ELEMENTS, COSTLY_FLOPS = 1 << 18, 1 << 25  # of one call: what it takes besides no longer counts
WITHOUT_DATA = 4  # times as much as a torch function on few data takes one on torch's meta device
TIES_BUDGET = 4_000  # work spent on finding which sizes belong together, see ``progress.Budget``


@dataclass(frozen=True, slots=True)
class Weight:
    """What one call takes: nothing is known of what fails."""

    runs: bool = False
    finite: bool = False  # so are all numbers of its answer, as far as weights tell
    heavy: bool = False  # more than a light one may
    dear: bool = False  # so much that few are to be made
    costly: bool = False  # so much that these are better made on smaller inputs
    unfit: str = ""  # how it takes more than any task may


class Runs:
    """Whether a module runs with other sizes, as long as the budget lasts."""

    def __init__(
        self, kind: Any, namespace: Mapping[str, Any], operators: int, solution: Solution | None = None
    ) -> None:
        """``operators`` that compute are what a task may have; the module of a ``solution`` is not made again."""
        self.kind, self._namespace, self._budget = kind, namespace, Budget(TIES_BUDGET)
        self._operators = operators
        self.dear = self.costly = False  # as of ``Weight``, of the solution that was weighed last
        self._error = ""  # of the solution that did not run last
        self._built: tuple[Arguments, nn.Module, Rehearsal] | None = None  # other inputs often go to the same module
        if solution and solution.made and (module := solution.made.take(kind)):
            self._built = (solution.arguments, module, Rehearsal(module))

    def __call__(self, solution: Solution) -> bool:
        return not self.spent() and self.fits(solution, self._budget)

    def spent(self) -> bool:
        """Whether the budget is at its end: from now on nothing runs."""
        return self._budget.left < 0

    def said(self) -> str:
        """The error of the solution that did not run last."""
        return self._error

    def fits(self, solution: Solution, budget: Budget | None = None) -> bool:
        """Whether the module runs, at the cost of a budget of its own unless another is given."""
        budget = budget or Budget()
        try:
            module, rehearsal = self._module(solution.arguments, budget)
        except Exception as unmade:  # noqa: BLE001 - it does not run, whatever the reason
            self._error = str(unmade)
            return False
        result, error = self._called(module, rehearsal, solution.specs, budget)
        forget(error)
        self._error = str(error or "")
        return error is None and has_tensor(result)

    def _called(
        self, module: nn.Module, rehearsal: Rehearsal, specs: Specs, budget: Budget
    ) -> tuple[Any, Exception | None]:
        """The result or the error of a call, which is not made where it is known to fail."""
        if foreseen := self._foreseen(specs, rehearsal):
            budget.left -= WITHOUT_DATA * foreseen[0].count
            return None, foreseen[1]
        return call(module, specs, budget)[1:]

    def module(self, arguments: Arguments) -> nn.Module:
        """The module of some arguments: the one that was built last where these are the same."""
        return self._module(arguments, Budget())[0]

    def _module(self, arguments: Arguments, budget: Budget) -> tuple[nn.Module, Rehearsal]:
        if self._built is None or self._built[0] != arguments:
            self._built = None  # two at once are not to be in memory
            module = build(self.kind, dict(arguments), self._namespace, budget)
            self._built = (arguments, module, Rehearsal(module))
        return self._built[1:]

    def keep(self, weight: Weight) -> Weight:
        """A weight that is from now on the one of the solution."""
        self.dear, self.costly = weight.dear, weight.costly
        return weight

    def weigh(self, solution: Solution) -> Weight:
        """What one call takes.

        Raises:
            UnfitError: it has too many operators.
        """
        module, rehearsal = self._module(solution.arguments, Budget())
        if foreseen := self._foreseen(solution.specs, rehearsal):
            forget(foreseen[1])
            return Weight()
        torch.manual_seed(0)
        inputs, work, unfit, result = [draw(s, roughly=True) for s in solution.specs], Work(self._operators), "", None
        try:
            with torch.no_grad(), bounded(), work:
                result = module(*inputs)
        except UnfitError as error:
            if work.operators > self._operators:
                raise
            unfit = str(error)
        except Exception as error:  # noqa: BLE001 - the check tells what it is that runs once and not twice
            unfit = str(error) if out_of_memory(error) else ""
            forget(error)
        each = min(self._operators, LIGHT_OPERATORS)
        much = work.elements > each * LIGHT_ELEMENTS or work.flops > each * LIGHT_FLOPS
        costly = work.elements > COSTLY_ELEMENTS or work.flops > COSTLY_FLOPS
        runs = has_tensor(result)
        whole = runs and finite(module, result)
        return Weight(runs, whole, bool(unfit) or runs and much, dear(work), costly, unfit)

    def _foreseen(self, specs: Specs, rehearsal: Rehearsal) -> tuple[Progress, Exception] | None:
        """How a call ends that is known to fail without being made; None where it is to be made."""
        return rehearsal.call(specs, None, light=False) if self.dear and elements(specs) > LIGHT else None


def fitted(solution: Solution, runs: Runs) -> Solution:
    """The solution with fewer layers, while it has too many operators, and with inputs no heavier than need be.

    Raises:
        UnfitError: it has too many operators, or takes more than any task may.
    """
    try:
        return lightened(solution, runs)
    except UnfitError:
        shallow = Solution(shallower(solution.arguments, defaults_of(runs.kind)), solution.specs)
        # loops over a sequence
        short = (Solution(solution.arguments, halved(solution.specs, first)) for first in (False, True))
        fewer = next((s for s in (shallow, *short) if s != solution and runs(s)), None)
        few = Solution(solution.arguments, shortened(solution.specs))  # as long as a loop was, all may be spent
        fewer = fewer or (few if few != solution and runs.fits(few) else None)
        if fewer is None:
            raise
        return fitted(fewer, runs)


def lightened(solution: Solution, runs: Runs) -> Solution:
    """The solution with smaller inputs, while it is heavy and smaller ones run.

    Raises:
        UnfitError: it has too many operators, or takes more than any task may.
    """
    weight = runs.keep(runs.weigh(solution))
    for _ in range(MAX_HALVINGS):
        if not weight.heavy:
            return solution
        specs = solution.specs
        every = (halved(specs), halved(specs, first=True), of_one(specs))
        smaller = (Solution(solution.arguments, s) for s in every if s != specs)
        weighed = ((s, runs.weigh(s)) for s in smaller)
        # What was given up for what it takes may fail further on.  And of one step there is no deviation.
        fits = ((s, w) for s, w in weighed if w.runs or w.unfit and runs.fits(s))
        fitting = next(((s, w) for s, w in fits if w.finite or w.unfit or not weight.finite), None)
        if fitting is None and weight.unfit:
            raise UnfitError(TOO_LARGE, weight.unfit)
        if fitting is None:
            return solution
        solution, weight = fitting[0], runs.keep(fitting[1])
    return solution
