"""No repository and no operator family may crowd out the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from filters.chain import drop
from kdata.record import Dropped, Pair, digest
from kdata.step import Step


@dataclass(slots=True)
class Caps:
    """How many pairs are wanted, and how many were taken so far. 0 is no cap."""

    per_repository: int = 0
    per_family: int = 0
    repositories: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)


def check(pair: Pair, caps: Caps) -> str | None:
    """A reason where a cap is reached; else the pair is counted."""
    repository, family = pair.task.origin.repository, pair.candidate.family
    if caps.per_repository and caps.repositories[repository] >= caps.per_repository:
        return f"enough of its repository: {repository}, at most {caps.per_repository}"
    if caps.per_family and caps.families[family] >= caps.per_family:
        return f"enough of its operator family: {family or 'unknown'}, at most {caps.per_family}"
    caps.repositories[repository] += 1
    caps.families[family] += 1
    return None


def step(per_repository: int = 0, per_family: int = 0, seed: int = 0) -> Step[Pair, Pair]:
    """The stage ``diversity`` over the whole set; which pairs a cap keeps is a draw that only the seed decides."""

    def run(pairs: Sequence[Pair]) -> Iterator[Pair | Dropped]:
        caps = Caps(per_repository, per_family)
        for pair in sorted(pairs, key=lambda p: digest(str(seed), p.id)):
            reason = check(pair, caps)
            yield drop("diversity", pair, reason) if reason else pair

    parameters = {"per_repository": per_repository, "per_family": per_family, "seed": seed}
    return Step("diversity", "1", Pair, Pair, run, parameters)
