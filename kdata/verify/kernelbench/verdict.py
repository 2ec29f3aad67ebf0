"""A verdict by KernelBench's rules, beside our own: so that numbers can be compared with those of papers.

As a level of verification it makes receipts whose ``effort`` is "kernelbench"; they say what KernelBench would, which
is less than ours say, and filters do not take them for proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from kdata.record import Candidate, Check, Receipt, Task, digest
from kdata.sandbox.pool import lease
from kdata.sandbox.worker import Answer, JobError
from kdata.verify import languages, reasons
from kdata.verify.cuda import candidate as cuda
from kdata.verify.evidence.expecting import UndecidedError, expect
from kdata.verify.evidence.findings import RejectedError
from kdata.verify.exchange.scratch import SOURCE
from kdata.verify.gpu.cards import borrow, held, with_memory
from kdata.verify.options import INTERPRETED, Options
from kdata.verify.receipts import versions

BASELINES = ("eager", "compile")


@dataclass(frozen=True, slots=True)
class Upstream:
    """What KernelBench would say of a candidate, see ``kdata.verify.kernelbench.job``."""

    compiled: bool
    correct: bool  # within 1e-4, its tolerance today
    correct_loose: bool  # within 1e-2, its tolerance up to v0.1, that of most papers
    error: str = ""
    candidate: float | None = None  # mean microseconds a call
    eager: float | None = None
    compile: float | None = None
    guards: tuple[str, ...] = ()  # behind which the candidate ran


def harness() -> str:
    """Hash of these rules."""
    return digest(*(p.read_text() for p in (Path(__file__), Path(__file__).with_name("job.py"))))


def judge(candidate: Candidate, options: Options, sizes: Mapping[str, int] | None = None) -> Upstream:
    """Run a candidate as KernelBench does, and on a GPU time it if it is correct.

    Args:
        candidate: what a model wrote.
        options: device, limits of time and memory, whether and over what to time.
        sizes: of the task's constants; None for its own.
    """
    task = candidate.task
    payload = {"source": task.source, "entry_point": task.entry_point, "sizes": dict(sizes or {}),
               "device": options.device}  # fmt: skip
    try:
        files = cuda.handed(candidate, options, lenient=True)
        answer = _call("answer", payload, files, options)
    except RejectedError as rejection:
        return Upstream(False, False, False, f"{rejection.reason}: {rejection.detail}"[:300])
    except JobError as error:
        return Upstream(False, False, False, str(error)[:300], guards=error.guards)
    found, guards = answer.value, answer.guards
    if not _well_formed(found):
        return Upstream(False, False, False, "no answer: the process wrote something else", guards=guards)
    now, loose = (bool(found["correct"][name]) for name in ("now", "v0.1"))
    verdict = Upstream(bool(found["compiled"]), now, loose, str(found["error"])[:300], guards=guards)
    if options.device != "cuda" or not options.timed or not verdict.correct_loose:
        return verdict
    own = _times(("candidate",), payload, files, options).get("candidate")
    baselines = _baselines(task.source, task.entry_point, options)
    return replace(verdict, candidate=own, eager=baselines.get("eager"), compile=baselines.get("compile"))


@lru_cache(maxsize=64)
def _baselines(source: str, entry_point: str, options: Options) -> Mapping[str, float | None]:
    """A task's baselines, measured once for all its candidates, in a process that sees none of them."""
    payload = {"source": source, "entry_point": entry_point, "sizes": {}, "device": options.device}
    return _times([b for b in options.baselines if b in BASELINES], payload, {SOURCE: b""}, options)


def _times(
    programs: Sequence[str], payload: Mapping[str, Any], files: Mapping[str, bytes], options: Options
) -> dict[str, float | None]:  # fmt: skip
    try:
        found = _call("times", {**payload, "programs": list(programs)}, files, options).value
    except JobError:
        return {}
    return {name: _number(found.get(name)) for name in programs} if isinstance(found, dict) else {}


def receipt(task: Task, candidate: Candidate, options: Options) -> Receipt:
    """What KernelBench would say, at its tolerance of today, as a receipt. On a CPU sizes are scaled down."""
    made = partial(Receipt, candidate.id, device=options.device, effort="kernelbench", harness=harness(),
                   versions=versions())  # fmt: skip
    if missing := languages.lacking(candidate, options):
        return made(verdict="unverified", reason=missing[0], detail=missing[1])
    sizes = None if options.device == "cuda" else small_sizes(candidate, options)
    if sizes is None and options.device != "cuda":
        return made(verdict="unverified", reason=reasons.BAD_TASK, detail="no sizes at which a CPU can run it")
    said = judge(candidate, options, sizes)
    made = partial(made, isolation="+".join(said.guards))
    checks = (Check("compiled", said.compiled), Check("within 1e-4", said.correct), *_times_of(said),
              Check("within 1e-2, as in KernelBench v0.1", said.correct_loose))  # fmt: skip
    if said.correct:
        return made(verdict="verified", reason="", checks=checks)
    reason = reasons.RAISES if said.error else reasons.WRONG
    return made(verdict="rejected", reason=reason, detail=said.error, checks=checks)


def _times_of(said: Upstream) -> tuple[Check, ...]:
    times = {"candidate": said.candidate, "eager": said.eager, "torch.compile": said.compile}
    told = ", ".join(f"{name} {value:.1f} us" for name, value in times.items() if value)
    return (Check("timed", True, told),) if told else ()


def small_sizes(candidate: Candidate, options: Options) -> dict[str, int] | None:
    """The sizes to which our judge scales the candidate's task down for a CPU; None where it cannot."""
    try:
        plain = replace(options, targets=(), level="screen")
        expected = expect(candidate.task.source, candidate.task.entry_point, plain)
    except UndecidedError:
        return None
    pairs = (part.rpartition("=") for part in expected.variants[0]["sizes"].split(", ") if part)
    return {name: int(value) for name, _, value in pairs}


def _call(job: str, payload: Mapping[str, Any], files: Mapping[str, bytes], options: Options) -> Answer:
    """What a function of ``kdata.verify.kernelbench.job`` answers.

    Raises:
        JobError: it gave no answer.
    """
    function = f"kdata.verify.kernelbench.job:{job}"
    if options.device == "cpu":
        with lease("torch", "kdata.verify.candidate.host:warm", **INTERPRETED) as worker:
            return worker.call(function, payload, options.limits(), files)
    # As KernelBench runs it, with cuDNN's default of tf32 in convolutions; timed on a GPU that nobody else uses.
    with borrow() as card:
        limits = card.limits(options.gpu_timeout, options.gpu_memory)

        def once() -> Answer:
            with held(card, alone=job == "times"), lease("torch", CUDA_VISIBLE_DEVICES=card.uuid) as worker:
                return worker.call(function, payload, limits, files)

        return with_memory(card, once, _short)


def _short(answer: Answer) -> bool:
    """Whether a candidate, or a task, ended for want of memory."""
    return isinstance(answer.value, dict) and bool(answer.value.get("short"))


def _well_formed(found: Any) -> bool:
    """Whether an answer, which the candidate could have written itself, has the form of one."""
    if not isinstance(found, dict) or not found.keys() >= {"compiled", "correct", "error"}:
        return False
    return isinstance(found["correct"], dict) and found["correct"].keys() == {"now", "v0.1"}


def _number(value: Any) -> float | None:
    """Microseconds that a child tells; None for what is no time."""
    return float(value) if isinstance(value, int | float) and 0 < value < float("inf") else None
