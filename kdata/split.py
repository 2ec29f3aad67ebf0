"""Train and test: whole repositories apart, so that no style, helper or copy is on both sides.

A repository that is more than a tenth of the set cannot be the test set.  Where no choice of repositories comes to a
twentieth, source files are kept whole instead; where even these are too few, tasks are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from kdata.record import Pair, digest

LEAST, MOST = 0.05, 0.10  # of the pairs
GROUPS: dict[str, Callable[[Pair], str]] = {
    "repository": lambda pair: pair.task.origin.repository,
    "source file": lambda pair: f"{pair.task.origin.repository}\x00{pair.task.origin.path}",
    "task": lambda pair: pair.task.id,
}


def split(pairs: Sequence[Pair], seed: int = 0) -> tuple[list[Pair], list[Pair], str]:
    """Divide pairs into train and test.

    Returns:
        Train, test, and which of ``GROUPS`` was kept whole. Test is empty only where there is a single task.
    """
    for name, group in GROUPS.items():  # noqa: B007 - the last ones tried
        chosen = _choose(Counter(map(group, pairs)), seed)
        count = sum(1 for p in pairs if group(p) in chosen)
        if count >= max(1, LEAST * len(pairs)):
            break
    else:
        chosen = _smallest(Counter(map(group, pairs)), seed)
    test = [p for p in pairs if group(p) in chosen]
    return [p for p in pairs if group(p) not in chosen], test, name


def _choose(sizes: Counter[str], seed: int) -> set[str]:
    """Groups in an order that only their names and the seed decide, each taken if it still fits."""
    room = MOST * sum(sizes.values())
    chosen: set[str] = set()
    for name in sorted(sizes, key=lambda n: digest(str(seed), n)):
        if sizes[name] <= room:
            chosen.add(name)
            room -= sizes[name]
    return chosen


def _smallest(sizes: Counter[str], seed: int) -> set[str]:
    """One group, for sets of so few pairs that a tenth of them is none; no group of a single one."""
    return set(sorted(sizes, key=lambda n: (sizes[n], digest(str(seed), n)))[:1]) if len(sizes) > 1 else set()
