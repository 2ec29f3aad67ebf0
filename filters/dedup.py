"""Exact, then near duplicates, over the whole set at once, among tasks whose inputs have the same ranks.

A row of one operator over images teaches another kernel than one over matrices, though their texts are equal up to how
the inputs are drawn.  Of tasks whose inputs nobody drew, as of other people's sets, the text tells the ranks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from filters import exact_duplicates, leakage, near_duplicates
from filters.canonical import drawn_ranks
from filters.chain import drop
from kdata.record import Dropped, Pair
from kdata.step import Step

Ranks = tuple[int, ...]


def preference(pair: Pair) -> tuple[Any, ...]:
    """Sort key: of two duplicates the smaller stays.

    The one that leaves less to ATen, then of the repository with more stars, then the longer text (it has the
    docstrings), then by origin and id, so that neither shards nor their order decide.
    """
    origin = pair.task.origin
    return (
        len(pair.candidate.left_to_aten), -(origin.stars or 0), -len(pair.task.source),
        origin.repository, origin.path, pair.task.symbol, pair.task.id, pair.id,
    )  # fmt: skip


def step(
    threshold: float = near_duplicates.THRESHOLD, seed: int = 1, problems: leakage.Problems | None = None
) -> Step[Pair, Pair]:
    """The stage ``dedup``: run it on all shards together. What leaks the ``problems`` goes first."""
    leaks = leakage.step(problems) if problems else None

    def run(pairs: Sequence[Pair]) -> Iterator[Pair | Dropped]:
        checked = list(leaks.function(pairs)) if leaks else pairs
        yield from (p for p in checked if isinstance(p, Dropped))
        kept = [p for p in checked if isinstance(p, Pair)]
        yield from _dedup(kept, lambda: near_duplicates.Index(threshold, seed))

    parameters = {"threshold": threshold, "seed": seed, **(leaks.parameters if leaks else {})}
    return Step("dedup", "4", Pair, Pair, run, parameters)


def _dedup(pairs: Sequence[Pair], index: Callable[[], near_duplicates.Index]) -> Iterator[Pair | Dropped]:
    skeletons: dict[Ranks, dict[str, str]] = defaultdict(dict)
    indexes: dict[Ranks, near_duplicates.Index] = defaultdict(index)
    candidates: set[str] = set()
    for pair in sorted(pairs, key=preference):
        reason = "exact duplicate: the same pair" if pair.id in candidates else None
        candidates.add(pair.id)
        ranks = tuple(len(given.shape) for given in pair.task.inputs) or drawn_ranks(pair.task.source)
        reason = reason or exact_duplicates.check(pair, skeletons[ranks])
        reason = reason or near_duplicates.check(pair, indexes[ranks])
        yield drop("dedup", pair, reason) if reason else pair
