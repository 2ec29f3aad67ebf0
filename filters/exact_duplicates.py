"""Is the same program in the set already, under whatever names?

Tasks are compared, not pairs: several verified candidates of one task all stay.
"""

from __future__ import annotations

from filters.canonical import skeleton
from kdata.record import Pair


def check(pair: Pair, seen: dict[str, str]) -> str | None:
    """A reason where another task with the same skeleton is in ``seen`` (skeleton -> task id), which is updated."""
    first = seen.setdefault(skeleton(pair.task.source), pair.task.id)
    return None if first == pair.task.id else f"exact duplicate: of task {first}"
