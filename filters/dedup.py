"""Exact, then near duplicates, over the whole set at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from filters import exact_duplicates, near_duplicates
from filters.chain import drop
from kdata.record import Dropped, Pair
from kdata.step import Step


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


def step(threshold: float = near_duplicates.THRESHOLD, seed: int = 1) -> Step[Pair, Pair]:
    """The stage ``dedup``: run it on all shards together."""

    def run(pairs: Sequence[Pair]) -> Iterator[Pair | Dropped]:
        yield from _dedup(pairs, near_duplicates.Index(threshold, seed))

    return Step("dedup", "2", Pair, Pair, run, {"threshold": threshold, "seed": seed})


def _dedup(pairs: Sequence[Pair], index: near_duplicates.Index) -> Iterator[Pair | Dropped]:
    skeletons: dict[str, str] = {}
    candidates: set[str] = set()
    for pair in sorted(pairs, key=preference):
        reason = "exact duplicate: the same pair" if pair.id in candidates else None
        candidates.add(pair.id)
        reason = reason or exact_duplicates.check(pair, skeletons) or near_duplicates.check(pair, index)
        yield drop("dedup", pair, reason) if reason else pair
