"""A candidate at its task's own sizes, on a GPU: its process and the reference's, and whole outputs compared.

The trusted parent carries bytes from the one to the other and decides; the comparison runs in the reference's process
(``kdata.verify.gpu.baselines``), which no candidate ever enters.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from kdata.record import Task, Trial
from kdata.sandbox.pool import lease
from kdata.sandbox.session import Session
from kdata.sandbox.worker import JobError
from kdata.verify import reasons
from kdata.verify.evidence.compare import Tensors, UnequalError, demand_apart, structure
from kdata.verify.evidence.findings import RejectedError
from kdata.verify.evidence.trial import OUTCOMES
from kdata.verify.exchange.scratch import OUTPUT, OWN, TAKEN
from kdata.verify.gpu.cards import Card, healthy
from kdata.verify.reference.styles import BARELY, BITS, ON_DEVICE, styled

COMPILING = 300.0  # seconds that building, compiling and autotuning may take
CALL = 60.0  # seconds that anything else may take
DRAWS = 2  # of inputs whose outputs are compared whole
WHOLE = 1 << 30  # bytes of output up to which every element is compared; beyond it, this many random runs
RUNS, RUN = 1024, 4096
OTHER = "banded"  # the style of a call whose answer is not looked at: zeros among numbers of either sign hurt nobody
OWN_SIZES = "at its own sizes"
EVERYTHING = 1 << 60
CRASHES = {"timeout": reasons.TIMEOUT, "memory": reasons.MEMORY}


class UnmeasuredError(Exception):
    """The task cannot be run at its own sizes here: why."""


def failure(answer: Mapping[str, Any]) -> tuple[str, str] | None:
    """The outcome and the reason that a candidate's process failed with; None where it did not say so."""
    failed = answer.get("failed")
    if failed is None:
        return None
    parts = [str(part)[:300] for part in failed] if isinstance(failed, list) else [str(failed)[:300]]
    outcome, detail, *_ = *parts, "", ""
    return outcome, detail


@dataclass(slots=True)
class Full:
    """The two processes at work on one candidate."""

    bench: Session
    host: Session
    admitted: dict[str, Any]
    where: str = OWN_SIZES
    trials: list[Trial] = field(default_factory=list)

    def ask(self, question: Mapping[str, Any], seconds: float = CALL) -> dict[str, Any]:
        """Ask the candidate's process.

        Raises:
            RejectedError: the candidate failed.
        """
        try:
            answer = self.host.ask(question, seconds)
        except JobError as error:
            raise RejectedError(CRASHES.get(error.reason, reasons.CRASH), f"{self.where}: {error}") from error
        if failed := failure(answer):
            outcome, detail = failed
            raise RejectedError(OUTCOMES.get(outcome, reasons.RAISES), f"{self.where}: {detail}")
        return answer

    def trust(self, question: Mapping[str, Any], seconds: float = CALL) -> dict[str, Any]:
        """Ask the reference's process.

        Raises:
            UnmeasuredError: it failed.
        """
        try:
            answer = self.bench.ask(question, seconds)
        except JobError as error:
            raise UnmeasuredError(f"the reference's process ended with {error}") from error
        if "fault" in answer:
            raise UnmeasuredError(str(answer["fault"][1]))
        return answer

    def check(self, draws: int = DRAWS, thorough: bool = False) -> None:
        """Compare whole outputs on some draws, and see that kernels of its own made them.

        Right after a call on inputs that are mostly zeros, of which nothing but compiled kernels is to be left: a sum
        that takes in some parts of an earlier one is hardly off where that was of the same kind.
        ``thorough``: also on draws out of the ordinary, where the reference bears them.

        Raises:
            RejectedError: one is wrong, or torch computes.
        """
        other = styled(secrets.randbits(BITS), OTHER)
        self.ask({"do": "warm", "what": "candidate", "seed": other, "seconds": 0.0}, COMPILING)
        first, *others = (secrets.randbits(BITS) for _ in range(draws))
        seeds = [styled(secrets.randbits(BITS), style) for style in ON_DEVICE[1:] if thorough and style != BARELY]
        again = [styled(first, BARELY)] if thorough else []  # right after the first, for which a cache may take it
        suited = {seed for seed in (*seeds, *again) if self.trust({"do": "suits", "seed": seed}, COMPILING)["suits"]}
        # natural ones last: for the timed calls
        for seed in [*(s for s in seeds if s in suited), first, *(s for s in again if s in suited), *others]:
            answer = self.ask({"do": "watch", "seed": seed})
            if called := answer.get("aten"):
                named = ", ".join(map(str, called)) if isinstance(called, list) else str(called)
                raise RejectedError(reasons.ATEN, f"{self.where}: {named[:300]}")
            if not answer.get("launches"):
                raise RejectedError(reasons.NOT_LAUNCHED, self.where)
            self.compare_structure(answer)
            self.trials.append(self.compare(seed))

    def compare_structure(self, answer: Mapping[str, Any]) -> None:
        """The nesting, types, dtypes, shapes and devices of what was returned.

        Raises:
            RejectedError: they are not the reference's.
        """
        try:
            if "odd" in answer:
                raise UnequalError(reasons.STRUCTURE, f"it returns {str(answer['odd'])[:200]}")
            theirs = Tensors(answer["manifest"], b"")
            ours = Tensors(self.admitted["outline"], b"")
            structure(self.admitted["outputs"], ours, answer["node"], theirs)
            demand_apart(self.admitted["outputs"], ours, answer["node"], theirs)
            if any(entry["device"] != "cuda" for entry in theirs.manifest):
                raise UnequalError(reasons.STRUCTURE, "an output is not on the GPU")
        except UnequalError as unequal:
            raise RejectedError(unequal.reason, f"{self.where}: {unequal.detail}") from unequal
        except (LookupError, TypeError, ValueError, AttributeError, StopIteration) as error:
            raise RejectedError(reasons.CRASH, "its process said what makes no sense") from error

    def compare(self, seed: int) -> Trial:
        """Compare what the candidate's last call returned for a draw.

        Raises:
            RejectedError: it is wrong.
        """
        whole = self.admitted["written"] <= WHOLE
        at = {"count": EVERYTHING if whole else RUNS, "run": 1 if whole else RUN, "seed": secrets.randbits(48)}
        self.ask({"do": "write", **at})
        try:
            self.host.take(OUTPUT, self.bench.folder / TAKEN)
        except JobError as error:
            raise RejectedError(reasons.CRASH, str(error)) from error
        question = {"do": "judge", "file": TAKEN, "at": at["seed"], "count": at["count"], "run": at["run"]}
        tolerances = {name: self.admitted[name] for name in ("terms", "sums")}
        outputs = self.trust({**question, "seed": seed, **tolerances}, COMPILING)["outputs"]
        trial = self._trial(seed, outputs, whole)
        if not trial.passed:
            raise RejectedError(reasons.WRONG, f"{self.where}: {trial.detail}")
        return trial

    def _trial(self, seed: int, outputs: Sequence[Mapping[str, Any]], whole: bool) -> Trial:
        worst = max(outputs, key=lambda o: math.inf if "fault" in o else o.get("excess", 0.0), default={})
        limits, excess = worst.get("limits", {}), worst.get("excess", 0.0)
        detail = worst.get("fault", "") or ("" if whole else f"{RUNS} runs of {RUN} elements")
        if excess > 1:
            detail = f"error {worst['max_abs']:.3g}, {excess:.3g} times what is allowed"
        numbers = {n: float(worst.get(n, 0.0)) for n in ("max_abs", "max_rel", "rmse", "rmse_reference")}
        return Trial(
            sizes="", shapes=self.admitted["shapes"], seed=seed, dtype=worst.get("dtype", ""), **numbers,
            atol=limits.get("atol", 0.0), rtol=limits.get("rtol", 0.0), passed="fault" not in worst and excess <= 1,
            detail=detail,
        )  # fmt: skip


Open = Callable[[Task, str], AbstractContextManager[Full]]  # a task, and how details name its sizes


@contextmanager
def opened(
    task: Task,
    mode: str,
    card: Card,
    memory: int,
    host: Session,
    tf32: bool = False,
    timed: bool = True,
    where: str = OWN_SIZES,
) -> Iterator[Full]:
    """The reference's process beside the candidate's, with the task admitted, and inputs and weights handed over.

    Where it is not to be timed it has one of the hardware's queues.  The candidate's has them all: on one, what waits
    for no stream would still come after what the others were given.

    Raises:
        UnmeasuredError: the task does not run at its own sizes on this GPU.
    """
    for roll in (True, False):  # integers may say what only their own order does: where each bag of a table begins
        with _admitted(task, mode, card, memory, tf32, timed, roll) as (bench, admitted):
            if admitted.get("varied"):
                continue
            if "fault" in admitted:
                raise UnmeasuredError(admitted["fault"][1])
            os.rename(bench.folder / OWN, host.folder / OWN)  # replaces whatever a candidate put there
            full = Full(bench, host, admitted, where)
            full.ask({"do": "own", "given": admitted["given"], "manifest": admitted["manifest"]}, COMPILING)
            yield full
            return


@contextmanager
def _admitted(
    task: Task, mode: str, card: Card, memory: int, tf32: bool, timed: bool, roll: bool
) -> Iterator[tuple[Session, dict[str, Any]]]:
    """The reference's process, and what it says of the task.

    Raises:
        UnmeasuredError: it ended.
    """
    payload = {"source": task.source, "entry_point": task.entry_point, "mode": mode, "tf32": tf32,
               "seed": secrets.randbits(48), "roll": roll}  # fmt: skip
    environment = card.environment(tf32, queues=None if timed else 1)
    with (
        lease("torch", "kdata.verify.gpu.baselines:warm", **environment) as trusted,
        Session(trusted, "kdata.verify.gpu.baselines:answer", payload, card.limits(4 * COMPILING, memory)) as bench,
    ):
        try:
            admitted = bench.ask({"do": "admit"}, COMPILING)
        except JobError as error:
            lost = "" if healthy(card) else "; the GPU is lost"
            raise UnmeasuredError(f"the reference's process ended with {error}{lost}") from error
        yield bench, admitted
