"""Calls that no trial makes: in other ways, through arms of tests that none took, after others. In the host's child."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Protocol

from kdata.verify.candidate import arms, ways
from kdata.verify.exchange import wire
from kdata.verify.interpreter import sampling

Given = dict[str, Any]
Report = dict[str, Any]
SEARCH = 4.0  # seconds of CPU that calls may take which only tell what arms they take


class Calls(Protocol):
    """What calls the candidate: ``host.Calls``."""

    reader: wire.Reader

    def trial(self, given: Given) -> Report:
        """One call."""
        ...

    def left_by(self, given: Given) -> object:
        """One call of which few programs run."""
        ...


def calls(candidate: Calls, trials: list[Given], plan: dict[str, Any]) -> Iterator[Report]:
    """Calls that a plan of ``beyond.aside`` asks for, each with the arms for the sake of which it was made."""
    left = {(number, arm) for number, arm in plan["arms"]}
    met: dict[int, set[arms.Arm]] = {}  # by which input was handed over so: one may go well that another does not
    given, told = trials[0], {"trial": 0, "forced": False, "way": ""}
    inputs = candidate.reader.read(given["inputs"])
    for way in plan["ways"]:
        for place in range(ways.count(way, inputs)):
            handed, as_told = given | {"way": way, "place": place}, told | {"way": way}
            if way in plan["always"]:
                yield _marked(candidate, left, handed | {"again": False}) | as_told
            else:
                yield from _taking(candidate, left - met.setdefault(place, set()), handed, as_told, met[place])
    for number, arm in plan["forced"]:
        if (number, arm) not in arms.taken:
            with arms.forced(number, arm):
                yield from _taking(candidate, {(number, arm)}, given, told | {"forced": True})
    for number, arm in plan["kept"] if len(trials) > arms.THEN else ():
        candidate.trial(given | {"again": False})
        with arms.forced(number, arm):
            yield _marked(candidate, {(number, arm)}, trials[arms.THEN]) | told | {"trial": arms.THEN, "forced": True}
    if plan["retyped"]:
        yield from _retyped(candidate, given, told)
    yield from _cutting(candidate, left, given, plan["cuts"])
    ranked = {(number, arm) for number, arm in plan["ranked"]}  # of another rank only what asks about ranks is meant
    for number, other in enumerate(trials if plan["others"] else ()):  # of few elements none may go well along one side
        yield from _taking(candidate, ranked if other.get("ranked") else left, other, told | {"trial": number})


def _retyped(candidate: Calls, given: Given, told: dict[str, Any]) -> Iterator[Report]:
    """A call in half precision and then, of the same module, the usual one: what it keeps may be the first one's."""
    half = given | {"way": "float16", "place": 0, "again": False}
    if candidate.trial(half)["outcome"] == "ok":
        usual = candidate.trial(given | {"again": True, "sized": True, "dtype": "float32"})
        yield usual | told | {"arms": [], "way": arms.RETYPED}


def _cutting(candidate: Calls, left: set[arms.Arm], given: Given, cuts: list[Any]) -> Iterator[Report]:
    """Which of these cuts of its inputs, as ``ways.cut`` takes them, take one of these arms; not what it answers."""
    end = time.process_time() + SEARCH
    for sizes in cuts:
        before = set(arms.taken)
        if left <= before or time.process_time() > end:
            break
        candidate.left_by(given | {"way": ways.CUT, "place": sizes})
        if new := sorted((arms.taken - before) & left):
            yield {"cut": sizes, "arms": new}
    sampling.sample(0)


def _taking(
    candidate: Calls, left: set[arms.Arm], given: Given, told: dict[str, Any], met: set[arms.Arm] | None = None
) -> Iterator[Report]:  # fmt: skip
    """The call, if it takes one of these arms, which are added to ``met``; some programs of each launch show that."""
    if not left:
        return
    with arms.anew() as now:
        candidate.left_by(given)
        sampling.sample(0)
        took = now & left
    if took:
        if met is not None:
            met |= took
        yield candidate.trial(given | {"again": False}) | {"arms": sorted(took)} | told


def _marked(candidate: Calls, left: set[arms.Arm], given: Given) -> Report:
    """The call, and which of these arms it is the first to take."""
    before = set(arms.taken)
    report = candidate.trial(given)
    return report | {"arms": sorted((arms.taken - before) & left)}
