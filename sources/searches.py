"""What the searches for one class came to: together they take no more than may be, and none is made twice.

A class that fails is tried in other ways: with less told of it, as another text, from smaller models on.  Some of these
begin with nothing that one before did not begin with, too, and come to nothing as that did; and where one search was at
the end of its budget, the next seldom ends otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sources.infer.input_search import Failed
from sources.infer.running.progress import BUDGET
from sources.infer.search import Solution, Unsolved
from sources.watch.capture import encoded

MOST = 1.2 * BUDGET  # work of all searches for a class after which none is begun in yet another way
LEAST = BUDGET / 20  # work of one from which on it is dearer than to tell what it began with


@dataclass(slots=True)
class Searches:
    """How much work all of them were, and outcomes of those that failed, by what they began with."""

    work: float = 0.0
    failed: list[tuple[str, set[str], dict[str, Any]]] = field(default_factory=list)

    def note(self, outcome: dict[str, Any]) -> dict[str, Any]:
        """The outcome of a fork that searched, perhaps, which now counts: one call too much is not to count as two."""
        if isinstance(work := outcome.get("work"), int | float):  # what ran was hostile, perhaps
            self.work += min(work, BUDGET)
        match outcome.pop("begins", None):
            case [str() as program, [*starts]]:
                self.failed.append((program, {*map(str, starts)}, outcome))
        return outcome

    def known(self, begins: Callable[[], tuple[str, list[str]]]) -> dict[str, Any] | None:
        """How a search failed that began with the same and perhaps more; None where none did."""
        program, starts = begins() if self.failed else ("", [])
        found = (o for own, tried, o in self.failed if own == program and tried >= {*starts})
        return next((outcome | {"work": 0.0} for outcome in found), None)

    def spent(self) -> bool:
        """Whether no other way is to be begun."""
        return self.work > MOST


def failure(outcome: Unsolved) -> dict[str, Any]:
    """A search that came to nothing as plain JSON."""
    return {"reason": outcome.reason, "detail": outcome.detail[:500], "failures": [*map(_told, outcome.failures)],
            "work": outcome.work}  # fmt: skip


def _told(failed: Failed) -> list[Any]:
    """A failure as plain JSON."""
    arguments, specs = encoded(Solution(failed.arguments, failed.specs or ()))
    return [arguments, specs if failed.specs is not None else None, failed.message]
