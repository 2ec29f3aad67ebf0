"""Finding inputs with which one module runs: best-first, what came further is mended sooner."""

from __future__ import annotations

import bisect
import heapq
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torch import nn

from sources.hints.demands import Demand, of_call
from sources.infer.constructor.trouble import Trouble
from sources.infer.forward.asserted import of_absent, of_settings, of_values, wishes
from sources.infer.forward.failure import NO_TENSOR, Failure
from sources.infer.forward.influence import Influence
from sources.infer.forward.repairs import repairs
from sources.infer.forward.starts import costed, given_sizes
from sources.infer.forward.variants import Arguments, halved, of_one, rescaled, shortened, smaller
from sources.infer.inputs import Specs, Tensor, elements, file_of
from sources.infer.running.calls import LATEST, MAX_DRAWN, call, forget, has_tensor, way
from sources.infer.running.check import MAX_ELEMENTS, MAX_FLOPS, TOO_LARGE
from sources.infer.running.progress import BUDGET, DRAWN_OF_ONE, Budget, Progress, TooLongError, TooMuchError
from sources.infer.running.rehearsal import Rehearsal
from sources.infer.running.worth import ALONE, NOT_FINITE, RANDOM, finite, flaw

NOT_INFERRED, TOO_LONG = "inputs not inferred", "too many operators"
MAX_CALLS = 140  # of one module's forward; a third of it for all modules but the first
LEAST_CALLS = 4  # of one module, as long as there is any sense in it, however dear they are
LONG, MAX_LONG = 500, 2  # operators that a loop over a short sequence may have; how often sequences are shortened
MAX_STALE = 60  # calls without progress
SHORT_STALE = 12  # the same where other arguments promise more
SAME_STALE = 4  # the same where those before failed likewise
NEW_EVERY = 5  # every so many calls what is nearest to a first guess has its turn, however far others came
UNLIKE = 2.0  # what the repairs cost of inputs that are none: smaller ones, or what a check of the program wishes for
MAX_FLAWED = 16  # calls after the first that runs, but is not worth keeping
MAX_RANDOM = (
    2  # the same where it draws at random: what it draws may be an input later, see ``sources.infer.rewritten.given``
)
MAX_LOOKED_AT = 300  # work of a call whose answer is looked at: that takes a few calls more
SMALLER = -1e6  # cost of inputs smaller than ones that were too large: they come first
IDLE = 1.5  # what inputs cost more that differ from failed ones in what does not matter to the failure only
AGAIN = 0.1  # what inputs cost more for each time that their forerunner's failure was seen before
PASSED, MAX_PASSED = 0.3, 8  # what they cost less for each line that came later and computes no more, and how often
GROWN = 0.15  # what they cost more for each doubling of their elements beyond so many
LIGHT = 1 << 16
HEAVY = 300  # work of a failed call on its elements after which smaller inputs are to fail in its place
DEAR = BUDGET / 8  # work of a failed call after which none is made that is known to fail, however small its inputs
# Errors that other inputs will hardly mend: a constructor argument is of the wrong kind.
_OF_ARGUMENTS = re.compile(
    r"unsupported operand type\(s\) for .*'(?!Tensor|int|float|NoneType)\w+'|non-iterable (int|\w+) object|Identity"
    r"|unexpected keyword argument|'(str|type|function)'|, not (str|type|function|list)\b|'int' object is not"
    r"|object is not callable|NotImplementedError|to be a single integer value or a list of"
)

_TOO_SMALL = re.compile(r"[Oo]utput size is too small|Kernel size can't be greater")  # no smaller inputs fail likewise

State = tuple[int, str]  # how far a search came, and at what it failed, without numbers


@dataclass(frozen=True, slots=True)
class Failed:
    """Arguments and inputs, None where constructing failed, and the error's message."""

    arguments: Arguments
    specs: Specs | None = None
    message: str = ""


Failures = dict[tuple[str, str], Failed]  # by the line, and the message without numbers


@dataclass(slots=True)
class Tried:
    """What the search over the inputs of one module came to: inputs with which it runs, or the best failure."""

    specs: Specs | None = None
    flaw: str = ""
    reason: str = NOT_INFERRED
    trouble: Trouble = field(default_factory=lambda: Trouble(""))
    reached: int = -1
    furthest: Specs | None = None  # inputs of the best failure
    quiet: bool = False  # whether it ran without drawing random numbers
    asked: Sequence[Demand] = ()  # of the constructor's arguments, by that failure
    heavy: bool = False  # whether some inputs were too large, whatever the best failure is

    @property
    def state(self) -> State:
        """What tells one best failure from another."""
        return self.reached, without_numbers(self.trouble.message)


@dataclass(slots=True)
class InputSearch:
    """Best-first search over the inputs of one module. Heavy inputs give way to smaller ones, while there are any."""

    module: nn.Module
    arguments: Arguments
    budget: Budget
    operators: int | None
    calls: int
    reached_before: int  # by modules of other arguments
    states: Mapping[State, int] = field(default_factory=dict)  # in which these ended, how often
    carried: Specs | None = None  # inputs with which one of these came furthest
    failed: Failures = field(default_factory=dict)  # of all of these
    heap: list[tuple[float, int, Specs]] = field(default_factory=list)
    seen: dict[Specs, float] = field(default_factory=dict)  # the least cost at which they were queued
    tried: set[Specs] = field(default_factory=set)
    nearest: list[tuple[float, int, Specs]] = field(default_factory=list)  # by what the repairs from a first guess cost
    edits: dict[Specs, float] = field(default_factory=dict)  # what these cost
    order: Iterator[int] = field(default_factory=itertools.count)
    failures: Counter[tuple[int, str, str]] = field(default_factory=Counter)  # by how far, at what, and message
    ways: dict[int, list[tuple[int, ...]]] = field(default_factory=dict)  # to these failures, by how far, in order
    influence: Influence = field(default_factory=Influence)
    of_rank: dict[int, Tensor] = field(default_factory=dict)  # see ``Failure.shaped``
    rehearsal: Rehearsal | None = None  # once calls are heavy
    dear: bool = False  # whether even those on few data are
    stale: int = 0
    patience: int = MAX_STALE
    heavy: bool = False
    long: int = 0  # calls that had too many operators
    best: Tried = field(default_factory=Tried)

    def run(self) -> Tried:
        """Inputs with which the module runs, the best there are; else how far it came."""
        starts = list(costed(self.module, given_sizes(self.module, self.arguments)))
        for cost, specs in starts:
            self._push(cost, specs)
            self._push_near(cost, specs)
        if self.carried is not None:
            self._push(0.1, self.carried)
        floor = self.budget.left / 2  # other arguments are to have their turn
        left = self.calls
        while left > 0 and self.heap and self.stale <= self.patience and self._may(floor, self.calls - left):
            cost, _, specs = heapq.heappop(self.heap)
            if left % NEW_EVERY == 0 and (other := self._near()):
                self._push(min(cost, SMALLER / 2), specs, again=True)  # its turn is the next one
                specs = other
            if specs in self.tried:
                continue
            self.tried.add(specs)
            before = self.best.specs
            if self._try(specs):
                break
            first = before is None and self.best.specs is not None
            left = left - 1 if not first else MAX_RANDOM if self.best.flaw == RANDOM else MAX_FLAWED
        return replace(self.best, heavy=self.heavy)

    def _reduces(self) -> bool:
        """Whether the next inputs are smaller ones in place of some that were too large."""
        return self.heap[0][0] < SMALLER / 2

    def _too_large(self) -> bool:
        """Whether nothing came further than what was too large."""
        return self.best.reached < 0 or self.best.reason == TOO_LARGE

    def _may(self, floor: float, calls: int) -> bool:
        """Whether the budget allows for a call after so many.

        What was too large may well be all that is wrong, and one call is no search: these may take more.  As long as
        everything was too large, the smaller inputs have their turn at any rate: each takes half at most.  And once
        calls are rehearsed, those that fail cost little.
        """
        if self._reduces() and self._too_large() and calls < 2 * LEAST_CALLS:
            return True
        more = self._reduces() or calls < LEAST_CALLS or self.rehearsal is not None
        return self.budget.left >= (floor - BUDGET / 4 if more else floor)

    def _push(self, cost: float, specs: Specs, again: bool = False) -> None:
        if again or cost < self.seen.get(specs, math.inf):
            self.seen[specs] = cost
            heapq.heappush(self.heap, (cost, next(self.order), specs))

    def _push_near(self, cost: float, specs: Specs) -> None:
        if cost < self.edits.get(specs, math.inf):
            self.edits[specs] = cost
            heapq.heappush(self.nearest, (cost, next(self.order), specs))

    def _near(self) -> Specs | None:
        """What is nearest to a first guess of all that was not tried."""
        while self.nearest:
            if (specs := heapq.heappop(self.nearest)[2]) not in self.tried:
                return specs
        return None

    def _try(self, specs: Specs) -> bool:
        """One call; whether the search is at its end."""
        less = [s for s in smaller(specs) if s not in self.seen]
        progress, result, error = self._call(specs, light=bool(less))
        try:
            return self._ended(specs, less, progress, result, error)
        finally:
            forget(error)

    def _ended(
        self, specs: Specs, less: Sequence[Specs], progress: Progress, result: Any, error: Exception | None
    ) -> bool:
        """Learn from one call, where inputs that are ``less`` are queued if it was too much; as of ``_try``."""
        if isinstance(error, TooLongError):
            self.best = Tried(reason=TOO_LONG, trouble=Trouble(str(error)))
            return not self._shorter(specs)
        if isinstance(error, TooMuchError):
            self.heavy = True
            # Where some ran that tell nothing, few calls are left: those that mend these are to have their turn.
            first = SMALLER if self.best.specs is None else self.seen[specs]
            for cost, s in enumerate(less):
                self._push(first + cost, s)
            # There may be others that are queued, or what came further and was not too large.
            ended = not less and not (self.heap and self._reduces()) and progress.count >= self.best.reached
            if self.best.specs is None and (ended or progress.count > self.best.reached):
                self.best = Tried(None, "", TOO_LARGE, Trouble(str(error)), progress.count, specs)
            return ended
        if error is None and has_tensor(result):
            if large := less and _nearly_too_large(progress):
                for cost, s in enumerate(less):
                    self._push(SMALLER + cost, s)
            if of_values(file_of(self.module)):  # other draws are to hold, too
                other, _, refused = call(self.module, specs, self.budget, self.operators, bool(less), seed=1)
                if isinstance(refused, AssertionError):
                    self._failed(specs, refused, other)
                    forget(refused)
                    return False
            return self._ran(specs, result, progress, TOO_LARGE if large else "")
        self._failed(specs, error, progress)
        return False

    def _shorter(self, specs: Specs) -> bool:
        """Queue shorter sequences in place of ones that a loop goes through step by step; False where there are none.

        Where few operators are allowed, a network has too many at any length.
        """
        if self.operators is None or self.operators < LONG or self.long >= MAX_LONG:
            return False
        self.long += 1
        shorter = shortened(specs)
        self._push(SMALLER, shorter, again=shorter not in self.tried)
        return shorter not in self.tried

    def _call(self, specs: Specs, light: bool) -> tuple[Progress, Any, Exception | None]:
        """One call of forward, unless it is known before to fail: once calls are dear, that is tried without data."""
        dear = self.dear or elements(specs) > LIGHT
        if self.rehearsal and dear and (foreseen := self.rehearsal.call(specs, self.operators, light)):
            self.budget.left -= foreseen[0].count
            return foreseen[0], None, foreseen[1]
        self.budget.left -= drawn / DRAWN_OF_ONE if (drawn := elements(specs)) <= MAX_DRAWN else 0
        progress, result, error = call(self.module, specs, self.budget, self.operators, light)
        cost = progress.work - progress.count
        self.dear = self.dear or error is not None and cost > DEAR
        if error is not None and cost > HEAVY and self.rehearsal is None:
            self.rehearsal = Rehearsal(self.module)
        return progress, result, error

    def _ran(self, specs: Specs, result: Any, progress: Progress, found: str = "") -> bool:
        """Learn from a call that ran; ``found`` is a flaw that is known."""
        if not found and progress.work < MAX_LOOKED_AT:
            found = flaw(self.module, specs, result, self.budget)
        elif not found and not finite(self.module, result):
            found = NOT_FINITE
        if not found and progress.lone:
            found = ALONE
        if not found or self.best.specs is None:
            self.best = Tried(specs, found, reached=progress.count, quiet=not progress.drew)
        if found:
            self._repair(specs, found, progress)
        return not found

    def _failed(self, specs: Specs, error: Exception | None, progress: Progress) -> None:
        trouble = Trouble.of(error, file_of(self.module)) if error else Trouble(NO_TENSOR)
        place = trouble.line, without_numbers(trouble.message)
        checked = isinstance(error, AssertionError) and place not in self.failed
        self.failed.setdefault(place, Failed(self.arguments, specs, trouble.message))
        passed, latest = self._passed(error, progress)
        further = progress.count > self.best.reached or progress.count == self.best.reached and latest
        self.stale = 0 if further else self.stale + 1
        if further and self.best.specs is None:
            asked = of_call(error, file_of(self.module)) if error else ()
            self.best = Tried(trouble=trouble, reached=progress.count, furthest=specs, asked=asked)
            hopeless = rescaled(self.arguments, trouble.message) or _OF_ARGUMENTS.search(trouble.message)
            self.patience = SHORT_STALE if hopeless or 0 <= progress.count <= self.reached_before else MAX_STALE
            alone = error is not None and any(of(error, file_of(self.module)) for of in (of_settings, of_absent))
            if self.states.get(self.best.state, 0) > 1 or alone:
                self.patience = SAME_STALE
        elif progress.count == self.best.reached and checked and error:  # by the next check, perhaps
            self.best = replace(self.best, asked=[*self.best.asked, *of_call(error, file_of(self.module))])
        dearer = AGAIN * self.failures[_failure(progress, trouble.message)] - math.log2(1 + progress.count) - passed
        for other in wishes(error, file_of(self.module), specs, self.module) if error else ():
            self._push(dearer + _grown(other), other)
        self._repair(specs, trouble.message, progress, passed)

    def _passed(self, error: Exception | None, progress: Progress) -> tuple[float, bool]:
        """What the lines are worth that a failed call passed beside others, and whether it is the latest of these.

        A row of checks, or of entries that are taken out of a dictionary, computes nothing: all its failures are as
        far, and only the lines tell which of them is nearer to the end.
        """
        taken = way(error, file_of(self.module)) if error else (LATEST,)
        ways = self.ways.setdefault(progress.count, [])
        rank = bisect.bisect_left(ways, taken)
        latest = rank == len(ways)
        if latest or ways[rank] != taken:
            ways.insert(rank, taken)
        return PASSED * min(rank, MAX_PASSED), latest

    def _repair(self, specs: Specs, message: str, progress: Progress, passed: float = 0.0) -> None:
        reached = math.log2(1 + min(progress.count, 400)) + passed
        failure = _failure(progress, message)
        solved = self.influence.learn(failure, specs, message)
        dearer = AGAIN * self.failures[failure] - reached
        for i, other in enumerate(solved):
            self._push(0.1 * i + dearer, other)
        failed = Failure(specs, message, self.module, *progress.last, progress.given, self.of_rank)
        near = self.edits.get(specs, UNLIKE) + 0.4
        for cost, other in repairs(failed):
            idle = IDLE * self.influence.idle(failure, specs, other)
            self._push(cost + 0.4 + dearer + idle + _grown(other), other)
            self._push_near(near + cost, other)
        heavy = progress.work - progress.count > HEAVY and not _TOO_SMALL.search(message)
        if heavy and (less := halved(of_one(specs))) != specs:
            self._push(-reached, less)
        self.failures[failure] += 1


def _failure(progress: Progress, message: str) -> tuple[int, str, str]:
    """What tells one failed call from another: how far it came, at what it failed, and the message without numbers."""
    return progress.count, progress.last[0], without_numbers(message)


def _grown(specs: Specs) -> float:
    """What inputs cost more for their elements."""
    return GROWN * math.log2(max(LIGHT, elements(specs)) / LIGHT)


def _nearly_too_large(progress: Progress) -> bool:
    """Whether a task may have little more: it is counted by operators there, of which a function may have several."""
    return progress.flops > MAX_FLOPS / 2 or progress.elements > MAX_ELEMENTS / 2


def without_numbers(message: str) -> str:
    """The message with 0 in place of each number: the same failure with other sizes is the same failure."""
    return re.sub(r"\d+", "0", message)


def feed(module: nn.Module, budget: Budget) -> Specs | None:
    """Inputs with which a module runs, found by trying."""
    return InputSearch(module, {}, budget, None, MAX_CALLS // 3, -1).run().specs
