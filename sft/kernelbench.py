"""A verdict by KernelBench's rules, beside our own: so that numbers can be compared with those of papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from kdata.record import Candidate, digest
from kdata.sandbox.pool import lease
from kdata.sandbox.worker import JobError
from kdata.verify.gpu import borrow, held
from kdata.verify.judge import UndecidedError, expect
from kdata.verify.options import Options

BASELINES = ("eager", "compile")


@dataclass(frozen=True, slots=True)
class Upstream:
    """What KernelBench would say of a candidate, see ``sft.kernelbench_job``."""

    compiled: bool
    correct: bool  # within 1e-4, its tolerance today
    correct_loose: bool  # within 1e-2, its tolerance up to v0.1, that of most papers
    error: str = ""
    candidate: float | None = None  # mean microseconds a call
    eager: float | None = None
    compile: float | None = None


def harness() -> str:
    """Hash of these rules."""
    return digest(*(p.read_text() for p in (Path(__file__), Path(__file__).with_name("kernelbench_job.py"))))


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
        found = _call("answer", payload, candidate.source, options)
    except JobError as error:
        return Upstream(False, False, False, str(error)[:300])
    if not _well_formed(found):
        return Upstream(False, False, False, "no answer: the process wrote something else")
    correct = found["correct"]
    verdict = Upstream(bool(found["compiled"]), bool(correct["now"]), bool(correct["v0.1"]), str(found["error"])[:300])
    if options.device != "cuda" or not options.timed or not verdict.correct_loose:
        return verdict
    own = _times(("candidate",), payload, candidate.source, options).get("candidate")
    baselines = _baselines(task.source, task.entry_point, options)
    return replace(verdict, candidate=own, eager=baselines.get("eager"), compile=baselines.get("compile"))


@lru_cache(maxsize=64)
def _baselines(source: str, entry_point: str, options: Options) -> Mapping[str, float | None]:
    """A task's baselines, measured once for all its candidates, in a process that sees none of them."""
    payload = {"source": source, "entry_point": entry_point, "sizes": {}, "device": options.device}
    return _times([b for b in options.baselines if b in BASELINES], payload, "", options)


def _times(
    programs: Sequence[str], payload: Mapping[str, Any], source: str, options: Options
) -> dict[str, float | None]:  # fmt: skip
    try:
        found = _call("times", {**payload, "programs": list(programs)}, source, options)
    except JobError:
        return {}
    return {name: _number(found.get(name)) for name in programs} if isinstance(found, dict) else {}


def small_sizes(candidate: Candidate, options: Options) -> dict[str, int] | None:
    """The sizes to which our judge scales the candidate's task down for a CPU; None where it cannot."""
    try:
        expected = expect(candidate.task.source, candidate.task.entry_point, replace(options, targets=()))
    except UndecidedError:
        return None
    pairs = (part.rpartition("=") for part in expected.variants[0]["sizes"].split(", ") if part)
    return {name: int(value) for name, _, value in pairs}


def _call(job: str, payload: Mapping[str, Any], source: str, options: Options) -> Any:
    """What a function of ``sft.kernelbench_job`` answers.

    Raises:
        JobError: it gave no answer.
    """
    function, files = f"sft.kernelbench_job:{job}", {"candidate.py": source.encode()}
    if options.device == "cpu":
        with lease("torch", "kdata.verify.host:warm", TRITON_INTERPRET="1") as worker:
            return worker.call(function, payload, options.limits(), files).value
    # As KernelBench runs it, with cuDNN's default of tf32 in convolutions; timed on a GPU that nobody else uses.
    with borrow() as card, held(card, alone=job == "times"):
        limits = card.limits(options.gpu_timeout, options.gpu_memory)
        with lease("torch", CUDA_VISIBLE_DEVICES=card.uuid) as worker:
            return worker.call(function, payload, limits, files).value


def _well_formed(found: Any) -> bool:
    """Whether an answer, which the candidate could have written itself, has the form of one."""
    if not isinstance(found, dict) or not found.keys() >= {"compiled", "correct", "error"}:
        return False
    return isinstance(found["correct"], dict) and found["correct"].keys() == {"now", "v0.1"}


def _number(value: Any) -> float | None:
    """Microseconds that a child tells; None for what is no time."""
    return float(value) if isinstance(value, int | float) and 0 < value < float("inf") else None
