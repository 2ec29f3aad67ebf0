"""The checks that look at one pair at a time, in order; the first that objects decides."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from filters import completeness, conciseness, correctness, licence
from kdata.record import Dropped, Pair
from kdata.step import Step


@dataclass(frozen=True, slots=True)
class Policy:
    """What a published pair must be."""

    allowed_aten: tuple[str, ...] = ()  # operators that a candidate may leave to ATen
    permissive: tuple[str, ...] = tuple(sorted(licence.PERMISSIVE))  # SPDX identifiers
    max_lines: int = conciseness.MAX_LINES
    max_characters: int = conciseness.MAX_CHARACTERS


def objection(pair: Pair, policy: Policy) -> str | None:
    """The first reason against a pair, as ``reason`` or ``reason: detail``."""
    return (
        correctness.check(pair)
        or completeness.check(pair, policy.allowed_aten)
        or licence.check(pair, policy.permissive)
        or conciseness.check(pair, policy.max_lines, policy.max_characters)
    )


def demand(pairs: Sequence[Pair]) -> None:
    """Refuse to give away what was not verified, or may not be given.

    Raises:
        ValueError: one line says how many pairs, and why.
    """
    found = Counter(r.partition(": ")[0] for p in pairs if (r := correctness.check(p) or licence.check(p)))
    if found:
        why = ", ".join(f"{reason} {count}" for reason, count in found.most_common())
        raise ValueError(
            f"{found.total()} of {len(pairs)} pairs may not be uploaded ({why}): `kdata filter` leaves such out"
        )


def step(policy: Policy | None = None) -> Step[Pair, Pair]:
    """The stage ``filter``: pairs that pass every check, the others dropped with their reason."""
    chosen = policy or Policy()

    def run(pairs: Sequence[Pair]) -> Iterator[Pair | Dropped]:
        for pair in pairs:
            reason = objection(pair, chosen)
            yield drop("filter", pair, reason) if reason else pair

    return Step("filter", "1", Pair, Pair, run, dataclasses.asdict(chosen))


def drop(stage: str, pair: Pair, objection: str) -> Dropped:
    """A pair as a dropped record: ``reason: detail`` is split, and its name says where it came from."""
    reason, _, detail = objection.partition(": ")
    origin = pair.task.origin
    name = f"{origin.repository}:{pair.task.symbol or pair.task.entry_point}"
    return Dropped(stage, pair.id, reason, detail, name)
