"""Finding constructor arguments and inputs with which a module runs.

Two nested best-first searches.  Over arguments: the failing line and its message say which parameter to change.  Over
inputs: the more torch functions ran before the failure, the sooner an attempt's repairs are tried.  All limits are
counts of tries, so the result does not depend on how fast the machine is.

The method, measured: progress-guided search over inputs and backtracking over arguments are worth 18 points each.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn

from kdata.record import digest
from sources.hints.guesses import values
from sources.hints.uses import Uses, compared
from sources.infer.constructor.constructions import MAX_CONSTRUCTIONS, NOTHING, Constructions, Told
from sources.infer.constructor.counted import recounted
from sources.infer.constructor.signatures import parameters_of
from sources.infer.constructor.suspects import made_of, word
from sources.infer.constructor.trouble import Trouble
from sources.infer.forward.variants import (
    Arguments,
    constructed,
    defaults_of,
    lengthened,
    refitted,
    rescaled,
    shallower,
)
from sources.infer.input_search import MAX_CALLS, TOO_LONG, Failed, Failures, InputSearch, State, Tried
from sources.infer.inputs import Specs, draw
from sources.infer.running.check import MAX_PARAMETERS, TOO_LARGE, Work
from sources.infer.running.made import Made
from sources.infer.running.memory import bounded
from sources.infer.running.progress import BUDGET, Budget
from sources.infer.running.worth import ALONE, RANDOM
from sources.text.remembered import parsed

MAX_MODULES = 9  # constructed modules whose forward is tried
MAX_FLAWED_MODULES = 2
KEPT = 1 << 23  # weights of a module that is kept while others are tried
MAX_LARGE = 3  # modules of too many parameters, none of whose arguments says how wide it is
NOT_CONSTRUCTED = "constructor not inferred"
PARAMETERS = "parameters"  # of which a module has too many
MAX_ALIKE = 3  # modules that fail alike: others hardly ever do otherwise
# With which much runs.
_NO_PARTS = re.compile(r"nn\.(?:Identity|Sequential)\(\)|(?<=nn\.ModuleList\()\[\](?=\))|^\[\]$")
_LAYER = re.compile(r"(^|_)(norm|act)(_?(layer|func|fn|cls|class))?$|^activation$")
IDLE = 8  # torch functions, at most, of what lays out its input only
PARTS = ("nn.Linear(64, 64)", "nn.Conv2d(64, 64, 3, padding=1)")


@dataclass(frozen=True, slots=True)
class Solution:
    """Arguments and inputs with which the module runs."""

    arguments: Arguments
    specs: Specs
    quiet: bool = field(default=False, compare=False)  # whether it was seen to run without drawing random numbers
    made: Made | None = field(default=None, compare=False, repr=False)  # the module, where it is still there
    work: float = field(default=0.0, compare=False, repr=False)  # that finding it was


@dataclass(frozen=True, slots=True)
class Unsolved:
    """Nothing was found; why, and the last message."""

    reason: str
    detail: str
    failures: tuple[Failed, ...] = field(default=(), compare=False)  # at each line, with each message, the first
    work: float = field(default=0.0, compare=False)


def solve(
    kind: type[nn.Module], namespace: Mapping[str, Any], text: str, told: Told = NOTHING, operators: int | None = None,
    work: float = BUDGET, constructed: int = MAX_CONSTRUCTIONS, seen: Specs | None = None, lighter: bool = False,
) -> Solution | Unsolved:  # fmt: skip
    """Search arguments and inputs for a module class of a task's namespace; ``text`` is the task's source.

    A task may have so many ``operators`` that compute; None: any number.  ``work`` is what the search may take, and
    ``constructed`` how often constructing is tried.  ``seen`` are inputs to begin with; ``lighter`` begins with
    smaller images and fewer layers.
    """
    budget = Budget(work)
    constructions = Constructions(kind, namespace, text, budget, told, constructed, lighter)
    outcome = _searched(constructions, budget, work, operators, seen)
    return replace(outcome, work=work - budget.left)


def _searched(
    constructions: Constructions, budget: Budget, work: float, operators: int | None, seen: Specs | None
) -> Solution | Unsolved:
    """As ``solve``, over the modules that could be constructed, of a ``budget`` that is ``work``."""
    kind, told, text = constructions.kind, constructions.told, constructions.text
    first: Unsolved | None = None
    flawed: list[Solution] = []
    reached, carried = -1, seen
    failures = Failures()
    states: Counter[State] = Counter()
    left = budget.left
    large = 0
    tried = -1  # counted by hand: enumerate holds a module beside the next
    for arguments, module in constructions:
        tried += 1
        costly = left - budget.left > work / 4
        if sum(p.numel() for p in module.parameters()) > MAX_PARAMETERS:
            first = first or Unsolved(TOO_LARGE, PARAMETERS)
            large += not constructions.again_smaller(arguments, images=False)
            if large >= MAX_LARGE:
                break
            budget.left = left  # smaller ones are to have their turn
            del module  # two at once are not to be in memory
            continue
        calls = MAX_CALLS if tried == 0 else MAX_CALLS // 3
        search = InputSearch(module, arguments, budget, operators, calls, reached, states, carried, failures)
        outcome = search.run()
        states[outcome.state] += 1
        if outcome.specs is not None:
            solution = Solution(arguments, outcome.specs, outcome.quiet)
            if not outcome.flaw and not (others := _with_parts(module, arguments, outcome, text)):
                return replace(solution, made=Made(kind, module))
            for other in others if not outcome.flaw else ():
                constructions.again(other)
            small = not flawed and sum(p.numel() for p in module.parameters()) <= KEPT
            flawed.append(replace(solution, made=Made(kind, module)) if small else solution)
        first = first or Unsolved(outcome.reason, outcome.trouble.message)
        alike = outcome.reached >= 0 and outcome.specs is None and states[outcome.state] >= MAX_ALIKE
        # What mends one call of the package comes before the others, which may not need it.
        if alike and not any(constructions.again(call, 1.0) for call in constructions.calls):
            break
        if not _mended(constructions, arguments, outcome, costly):
            return Unsolved(outcome.reason, outcome.trouble.message)
        if outcome.specs is None and outcome.reached >= reached:
            constructions.blame(arguments, outcome.trouble, outcome.asked)
        if outcome.reason == TOO_LARGE:  # smaller ones are to have their turn
            budget.left = max(budget.left, left / 2)
        carried = outcome.furthest if outcome.reached > reached else carried
        reached, left = max(reached, outcome.reached), budget.left
        del module, search
        if tried + 1 >= MAX_MODULES or budget.left < 0 or len(flawed) >= _enough(outcome.flaw, told):
            break
    return flawed[0] if flawed else _unsolved(first, failures, constructions)


def beginning(
    kind: type[nn.Module], namespace: Mapping[str, Any], text: str, told: Told, work: float, seen: Specs | None,
    lighter: bool,
) -> tuple[str, list[str]]:  # fmt: skip
    """What a search begins with: a digest of the program and the inputs, and all arguments."""
    starts = _starts(kind, namespace, text, told, lighter)
    program = digest(kind.__name__, text, repr((sorted(told.defaults.items()), work, seen)))
    return program, [repr(sorted(arguments.items())) for arguments in starts.agenda.left()]


def lightens(kind: type[nn.Module], namespace: Mapping[str, Any], text: str, told: Told) -> bool:
    """Whether a ``lighter`` search begins with other arguments than a plain one, and so may end otherwise."""
    return _starts(kind, namespace, text, told, lighter=True).lightened


def _starts(
    kind: type[nn.Module], namespace: Mapping[str, Any], text: str, told: Told, lighter: bool
) -> Constructions:  # fmt: skip
    """What a search would construct, of which nothing was."""
    starts = Constructions(kind, namespace, text, Budget(), told, tries=0, lighter=lighter)
    list(starts)  # in so many tries nothing is constructed
    return starts


def _enough(flaw: str, told: Told) -> int:
    """How many modules with a flaw end a search.

    What draws at random will be given what it draws; another call of the package may be one that does not.  Inputs for
    which a softmax is of one number are no matter of arguments.
    """
    return 1 if flaw == ALONE or flaw == RANDOM and len(told.sites) < 2 else MAX_FLAWED_MODULES


def _mended(constructions: Constructions, arguments: Arguments, outcome: Tried, costly: bool) -> bool:
    """Queue arguments that may mend a failure; False where it has too many operators, and no fewer layers."""
    defaults, message = defaults_of(constructions.kind), outcome.trouble.message
    counted = recounted(constructions.kind, arguments, message) if outcome.specs is None else []
    by_origin = functools.partial(_by_origin, constructions, arguments, outcome.trouble)
    for other in [*constructed(arguments, message), *by_origin(rescaled(arguments, message)),
                  *lengthened(arguments, message), *counted]:  # fmt: skip
        constructions.again(shallower(other, defaults) if costly else other)
    if outcome.reason == TOO_LARGE or outcome.heavy and outcome.specs is None:  # smaller inputs may be too small
        constructions.again_smaller(arguments)
    if outcome.reason == TOO_LONG and not constructions.again(shallower(arguments, defaults)):
        return False
    for other in by_origin(refitted(arguments, defaults, message)) if outcome.specs is None else ():
        constructions.again(other)
    return True


def _by_origin(
    constructions: Constructions, arguments: Arguments, trouble: Trouble, others: list[Arguments]
) -> list[Arguments]:
    """Other arguments, first those in which one differs that made what the lines on the way to a failure call.

    Of several arguments of one size the message does not tell which is wrong; the part that failed does.
    """
    made = made_of(constructions.kind, constructions.text) if len(others) > 1 else {}

    def is_elsewhere(other: Arguments) -> bool:
        changed = (name for name, text in other.items() if text != arguments.get(name))
        return not any(made.get(n.split(".")[0]) and word(n.split(".")[0], made).search(trouble.far) for n in changed)

    return sorted(others, key=is_elsewhere)


def _unsolved(first: Unsolved | None, failures: Failures, constructions: Constructions) -> Unsolved:
    """Nothing was found; ``first`` is what the first module came to, None where there was none."""
    if first is not None:
        return replace(first, failures=tuple(failures.values()))
    message = constructions.message
    return Unsolved(NOT_CONSTRUCTED, message, (Failed(constructions.furthest, None, message),))


def _with_parts(module: nn.Module, arguments: Arguments, outcome: Tried, text: str) -> list[Arguments]:
    """Arguments with layers in place of parts that do nothing, where the module does nothing but call these.

    And those with which a module that lays out its input only may do more.
    """
    others = [{n: _filled(t, p) for n, t in arguments.items()} for p in PARTS]
    others = [other for other in others if other != arguments]
    others += _busier(type(module), arguments, text) if outcome.reached <= IDLE else []
    if not others or outcome.specs is None:
        return []
    torch.manual_seed(0)
    work, given = Work(1), [draw(spec, roughly=True) for spec in outcome.specs]
    try:
        with torch.no_grad(), bounded(), work:
            module(*given)
    except Exception:  # noqa: BLE001 - it computes: more than one operator is too many
        return []
    return [] if work.operators else others


def _busier(kind: type[nn.Module], arguments: Arguments, program: str) -> list[Arguments]:
    """Arguments with a normalisation or activation that may be left out, or with two where one is none.

    ``scale=1`` asks an upsampling for no layers, and ``kind="none"`` does: there are other words for it.
    """
    given = {**defaults_of(kind), **arguments}
    found = [{**arguments, n: "2"} for n, text in given.items() if text == "1"]
    worded = {n: t for n, t in arguments.items() if t[:1] in ("'", '"')}
    words = compared(parsed(program)) if worded else {}
    found += [{**arguments, n: repr(w)} for n, t in worded.items() for w in words.get(n, ()) if repr(w) != t]
    left_out = (p.name for p in parameters_of(kind) if p.default is None and arguments.get(p.name, "None") == "None")
    return found + [{**arguments, n: values(n, "", Uses())[0]} for n in left_out if _LAYER.search(n)]


def _filled(text: str, part: str) -> str:
    """An expression with a part in place of each that does nothing, and two in an empty list."""
    return _NO_PARTS.sub(lambda found: f"[{part}, {part}]" if found[0] == "[]" else part, text)
