"""Asks a process of its own what a task's reference answers. The trusted side."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache

from kdata.record import digest
from kdata.sandbox.pool import lease
from kdata.sandbox.worker import JobError
from kdata.verify import reasons
from kdata.verify.evidence.trial import Expected
from kdata.verify.exchange.scratch import GIVEN, KEPT
from kdata.verify.options import LOADED, WEIGHTS, WHOLE, Concession, Options
from kdata.verify.reference import admission


class UndecidedError(Exception):
    """A candidate can be neither verified nor rejected: the reason, one of ``reasons``, and its detail."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


@lru_cache(maxsize=8)
def expect(
    source: str, entry_point: str, options: Options, salt: str = "", gradient: bool = False,
    named: tuple[float, ...] = (), conceded: Concession = Concession(), unlike: frozenset[int] = frozenset(),  # noqa: B008 - frozen
    most: int = 0,
) -> Expected:  # fmt: skip
    """Run a task's reference at all its variants; the last answers are remembered for the task's other candidates.

    Args:
        source: the task's text.
        entry_point: the class in it.
        options: how thoroughly it is run, and at how many sizes and draws.
        salt: makes the draws those of one candidate; "" for the same ones for all of them.
        gradient: whether its backward is run, too, for a candidate that offers one.
        named: numbers that a candidate names, which inputs hold in one more draw.
        conceded: the sizes at which a candidate need not be right.
        unlike: dimensions along which inputs of one shape are given different sizes, because a candidate asks several
            of them for theirs.
        most: elements up to which the task is run at its own sizes; 0 for as many as the level asks for.

    Raises:
        UndecidedError: the reference has no answer that a candidate could be held against.
    """
    seeds = [int(digest("seed", str(options.seed), str(n), *([salt] if salt else []))[:7], 16)
             for n in range(options.draws)]  # fmt: skip
    grid = options.level == "trust"
    payload = {"source": source, "entry_point": entry_point, "variants": options.sizes, "seeds": seeds,
               "level": options.level, "grid": grid, "gradient": gradient, "named": list(named),
               "conceded": asdict(conceded), "unlike": sorted(unlike), "whole": most or WHOLE[options.level],
               "precision": options.precision}  # fmt: skip
    side = "wider" if grid or gradient or named else "reference"
    try:
        with lease("torch", "kdata.verify.reference.reference:warm") as worker:
            job = f"kdata.verify.reference.{side}:answer"
            answer = worker.call(job, payload, options.limits(WEIGHTS, LOADED), fetch=(GIVEN, KEPT))
    except JobError as error:
        raise UndecidedError(reasons.BAD_TASK, f"the reference's process ended with {error}") from error
    if "fault" in answer.value:
        raise UndecidedError(*answer.value["fault"])
    if answer.files.keys() != {GIVEN, KEPT}:
        raise UndecidedError(reasons.BAD_TASK, "the reference's process left no tensors")
    expected = admission.answered(Expected(answer.value, answer.files[GIVEN], answer.files[KEPT]))
    if weakness := admission.weakness(expected):
        raise UndecidedError(reasons.WEAK_TASK, weakness)
    return expected
