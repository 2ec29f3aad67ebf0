"""The same class cut otherwise, where a first cut came to no task."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from sources.cut.inferring import NOTE as IN_TRAINING
from sources.cut.inferring import inferring
from sources.infer.constructor.configs import OF_RECORDS
from sources.infer.input_search import NOT_INFERRED, TOO_LONG
from sources.infer.rewritten.drawn import NOTE, drawn
from sources.infer.running.check import COMPUTES_NOTHING, IGNORES, TOO_LARGE
from sources.infer.running.progress import NO_MEMORY
from sources.infer.running.worth import RANDOM
from sources.infer.search import NOT_CONSTRUCTED, PARAMETERS
from sources.isolation import NOT_ALONE
from sources.lessons import TELLS_NOTHING
from sources.text.callables import NOTE as BELONGS
from sources.text.callables import WANTED as CALLABLE
from sources.text.callables import owned
from sources.text.failing import NOTE as FAILS
from sources.text.failing import without_failing
from sources.text.kept_state import NOTE as KEPT
from sources.text.kept_state import kept_within
from sources.text.masks import NOTE as TRUE
from sources.text.masks import WANTED as MASKS
from sources.text.masks import of_truth
from sources.text.named_answers import NOTE as BY_NAME
from sources.text.named_answers import WANTED as NAMED
from sources.text.named_answers import named_answers
from sources.text.narrower import NOTE as NARROWER
from sources.text.narrower import narrower
from sources.text.set_before import NOTE as BEFORE
from sources.text.set_before import given_before
from sources.text.set_outside import ASSERTED, GIVEN, given_within, set_within
from sources.text.set_outside import NOTE as SET
from sources.text.single import NOTE as SINGLE
from sources.text.single import WANTED as DOUBLE
from sources.text.single import of_single
from sources.text.sparser import NOTE as SPARSER
from sources.text.sparser import sparser
from sources.text.starred import NOTE as LISTED
from sources.text.starred import listed
from sources.text.views import NOTE as RESHAPED
from sources.text.views import WANTED as VIEWS
from sources.text.views import reshaped
from sources.text.whole_division import NOTE as DIVIDED
from sources.text.whole_division import WANTED, divided

MAX_HALVED = 2  # times that widths are
FEWER = (16, 64)  # times fewer that points are sampled
MAX_OTHER_SITES = 2  # calls of a class that are taken in place of the first
Cut = dict[str, Any]
# What a message tells of a text, what it is then, and what the task says of that.
_BY_MESSAGE: tuple[tuple[re.Pattern[str], Callable[[str, str], str], str], ...] = (
    (WANTED, lambda source, _: divided(source), DIVIDED),
    (DOUBLE, of_single, SINGLE),
    (MASKS, lambda source, _: of_truth(source), TRUE),
    (VIEWS, lambda source, _: reshaped(source), RESHAPED),
    (NAMED, lambda source, _: named_answers(source), BY_NAME),
    (ASSERTED, lambda source, _: given_within(source), GIVEN),
)


def tried_otherwise(
    cut: Cut, outcome: dict[str, Any], tried: Callable[[Cut, dict[str, Any] | None], dict[str, Any]],
    may: Callable[[], bool],
) -> tuple[Cut, dict[str, Any]]:  # fmt: skip
    """The first other cut that makes a task, and that; else what runs though it ignores an input, or cut and outcome.

    What runs where the first did not, but tells nothing, has other cuts of its own, as has what fails at its top again
    without what failed there first.  ``may`` tells whether to go on.
    """
    best = cut, outcome
    for other, before in other_cuts(cut, outcome):
        if not may():
            break
        again = other, tried(other, before)
        runs = again[1]["reason"] in TELLS_NOTHING and outcome["reason"] not in TELLS_NOTHING
        further = outcome.get("line") and again[1].get("line")  # another statement fails at the top
        if runs or further and len(other["source"]) < len(cut["source"]):
            again = tried_otherwise(*again, tried, may)
        if not again[1]["reason"]:
            return again
        best = again if again[1]["reason"] == IGNORES and outcome["reason"] not in TELLS_NOTHING else best
    return best


def other_cuts(cut: Cut, outcome: dict[str, Any]) -> Iterator[tuple[Cut, dict[str, Any] | None]]:
    """What is tried after an outcome with a reason, in order: a cut, and the outcome that its own may equal.

    Where an answer tells nothing, that may be for the weights, which are then drawn, as the task says; or for what the
    class was given: a part that draws at random, one that does nothing.
    """
    source, told = cut["source"], cut["told"]
    if (line := outcome.get("line")) and (whole := without_failing(source, line)) != source:
        yield _noted(cut, FAILS, source=whole), None
    if "teachers" not in cut and _misleads(told.get("seen"), outcome):
        yield cut | {"told": {**told, "seen": None}}, None
    for method in told.get("others", ()):  # by which it may compute, too
        yield cut | method, None
    for pattern, rewritten, note in _BY_MESSAGE:
        if pattern.search(outcome["detail"]) and (whole := rewritten(source, cut["name"])) != source:
            yield _noted(cut, note, source=whole), None
    if (whole := set_within(source, outcome["detail"], told["defaults"])) != source:
        yield _noted(cut, SET, source=whole), None
    yield from _with_more(cut, outcome)
    too_wide = outcome["reason"] == TOO_LARGE and outcome["detail"] == PARAMETERS
    if too_wide or NO_MEMORY.search(outcome["detail"]):
        yield from _narrower(cut)
    if outcome["reason"] in (TOO_LARGE, TOO_LONG, NOT_INFERRED) and not too_wide:
        yield from _sparser(cut)
    if outcome["reason"] == RANDOM and (kept := kept_within(source)) != source:
        yield _noted(cut, KEPT, source=kept, told=_begun(told, outcome) | {"users": []}), None
    large = outcome["reason"] == TOO_LARGE and outcome.get("solved")  # it ran, and will be as large without training
    if not large and (untrained := inferring(source)) != source:
        users = [user | {"source": inferring(user["source"])} for user in told.get("users", ())]
        yield _noted(cut, IN_TRAINING, source=untrained, told=_begun(told, outcome) | {"users": users}), outcome
    if CALLABLE.search(outcome["detail"]) and (owning := _owning(cut)) is not None:
        yield owning, None
    if outcome["reason"] in TELLS_NOTHING:
        if (weighed := drawn(source)) != source:
            yield _noted(cut, NOTE, source=weighed, told=_begun(told, outcome)), None
        for i in range(1, min(len(told["sites"]), MAX_OTHER_SITES + 1)):
            yield cut | {"told": {**told, "sites": told["sites"][i:], "seen": None, "users": []}}, None


def _misleads(seen: dict[str, Any] | None, outcome: dict[str, Any]) -> bool:
    """Whether a class may do without what it was seen with: an example may show what draws, or inputs that do not do.

    A search that failed tried arguments alone among others: without them it is the same.
    """
    return seen is not None and (seen["specs"] is not None or outcome["reason"] not in (NOT_CONSTRUCTED, NOT_INFERRED))


def _with_more(cut: Cut, outcome: dict[str, Any]) -> Iterator[tuple[Cut, None]]:
    """The cut with more inputs, or a list of layers where its constructor took them one by one: a search gave it none.

    Or with settings that are mappings, where a record of them did not do.
    """
    source = cut["source"]
    if outcome["reason"] == NOT_INFERRED and (taking := cut["told"].get("records")):
        yield cut | taking | {"told": cut["told"] | {"records": None, "seen": None, "users": []}}, None
    if OF_RECORDS.search(outcome["detail"]):
        yield cut | {"mappings": True, "told": _begun(cut["told"], outcome)}, None
    if outcome["reason"] in (NOT_INFERRED, NOT_ALONE) and (whole := given_before(source, cut["name"])) != source:
        yield _noted(cut, BEFORE, source=whole, told=cut["told"] | {"users": [], "seen": None}), None
    if outcome["reason"] in (COMPUTES_NOTHING, NOT_INFERRED) and (whole := listed(source, cut["name"])) != source:
        yield _noted(cut, LISTED, source=whole, told=cut["told"] | {"sites": [], "seen": None, "users": []}), None


def _narrower(cut: Cut) -> Iterator[tuple[Cut, None]]:
    """The cut with half of the widths that its text says, and with half of these."""
    source = cut["source"]
    for _ in range(MAX_HALVED):
        if (halved := narrower(source)) != source:
            yield _noted(cut, NARROWER, source=halved, told=cut["told"] | {"users": []}), None
        source = halved


def _sparser(cut: Cut) -> Iterator[tuple[Cut, None]]:
    """The cut with fewer points where its text says how many are sampled."""
    for times in FEWER:
        if (fewer := sparser(cut["source"], times)) != cut["source"]:
            yield _noted(cut, SPARSER, source=fewer, told=cut["told"] | {"users": []}), None


def _begun(told: dict[str, Any], outcome: dict[str, Any]) -> dict[str, Any]:
    """What is told of a class, and with what it ran: arguments and inputs that need not be searched once more."""
    if not isinstance(solved := outcome.get("solved"), dict):
        return told
    arguments, specs = solved["answer"]
    return told | {"seen": {"arguments": arguments, "specs": specs, "own": True}}


def _noted(cut: Cut, note: str, **changed: Any) -> Cut:
    """The cut with what changed, and a line above its text that says so, once."""
    return cut | changed | {"header": [*dict.fromkeys([*cut.get("header", []), note])]}


def _owning(cut: Cut) -> Cut | None:
    """The cut with the layers that forward is given as the constructor's first arguments; None where it is given none.

    What uses the class gives them otherwise.
    """
    source, taken = owned(cut["source"], cut["name"])
    if not taken:
        return None
    told = cut["told"]
    sites = [site | {"positional": [*[None] * len(taken), *site["positional"]]} for site in told["sites"]]
    return _noted(cut, BELONGS, source=source, told=told | {"sites": sites, "seen": None, "users": []})
