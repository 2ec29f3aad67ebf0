"""Who of the solved definitions of a part may teach which of those that failed for want of arguments or inputs.

A network that became a task constructs and calls its blocks: watching it shows true arguments and inputs of them.
And what does for a class may do for another whose constructor and forward take the same, by name.
Nothing runs here, see ``sources.taught``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from kdata.record import Definition, Task

# It runs, and its answers would teach nothing.
TELLS_NOTHING = ("not finite", "output constant", "output ignores an input", "nondeterministic")
# What other arguments and inputs may mend.
WANTING = (
    "constructor not inferred", "inputs not inferred", *TELLS_NOTHING, "too large", "timeout", "does not run alone",
)  # fmt: skip
DUPLICATE = "duplicate"
MAX_TEACHERS = 2  # of one definition in a round
Key = tuple[str, str, str]  # repository, revision, and ``path:symbol``


@dataclass(slots=True)
class Pupil:
    """A definition that failed, what it came to, and how many teachers it has had."""

    number: int  # among the definitions of its part
    definition: Definition
    outcome: dict[str, Any]
    asked: int = 0
    compared: bool = False  # with one that takes the same


@dataclass(slots=True)
class Lessons:
    """What became of the definitions of a part so far: who may teach, and who waits for a teacher."""

    tasks: set[str] = field(default_factory=set)  # ids of those that there are
    pupils: list[Pupil] = field(default_factory=list)
    _teachers: dict[Key, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    _alike: dict[Key, dict[str, Any]] = field(default_factory=dict)  # the first of those that take the same

    def settled(self, number: int, definition: Definition, outcome: dict[str, Any]) -> dict[str, Any] | None:
        """A first outcome as it stands; None for a failure that others may mend: that is kept back."""
        if outcome["reason"] in WANTING:
            self.pupils.append(Pupil(number, definition, outcome))
            return None
        return self._note(definition, outcome)

    def ready(self) -> list[tuple[Pupil, list[dict[str, Any]]]]:
        """Those that failed and have teachers that they did not have yet, with these."""
        found = []
        for pupil in self.pupils:
            own = _key(pupil.definition, f"{pupil.definition.origin.path}:{pupil.definition.symbol}")
            teachers = self._teachers.get(own, [])[pupil.asked :][:MAX_TEACHERS]
            pupil.asked += len(teachers)
            takes = json.loads(pupil.definition.told or "{}").get("takes", "")
            alike = self._alike.get(_key(pupil.definition, takes))
            if takes and alike and not pupil.compared:
                pupil.compared = True
                teachers.append(alike)
            if teachers and pupil.outcome["reason"] in WANTING:
                found.append((pupil, teachers))
        return found

    def learnt(self, pupil: Pupil, outcome: dict[str, Any]) -> None:
        """What a second try came to; where it failed, what was found first stands: a lost job loses nothing."""
        if not outcome["reason"]:
            pupil.outcome = self._note(pupil.definition, outcome)

    def _note(self, definition: Definition, outcome: dict[str, Any]) -> dict[str, Any]:
        if outcome["reason"]:
            return outcome
        if isinstance(solved := outcome.get("solved"), dict):  # what ran was hostile, perhaps
            told, solved = json.loads(definition.told or "{}"), solved | {"symbol": definition.symbol}
            for held, name in told.get("holds", {}).items():
                self._teachers[_key(definition, held)].append(solved | {"wanted": name})
            self._alike.setdefault(_key(definition, told.get("takes", "")), solved | {"wanted": ""})
        task = Task.make(outcome["source"], outcome["name"], definition.origin).id
        if task in self.tasks:
            return {"reason": DUPLICATE, "detail": "equal to another task of its package"}
        self.tasks.add(task)
        return outcome


def _key(definition: Definition, symbol: str) -> Key:
    return definition.origin.repository, definition.origin.revision, symbol
