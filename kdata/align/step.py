"""Alignment as a stage, and for a single file."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ruff import find_ruff_bin  # type: ignore[import-untyped]

from kdata.align.errors import AlignError
from kdata.record import Candidate, Dropped, Origin, Task, digest
from kdata.sandbox.guard import Limits
from kdata.sandbox.pool import lease
from kdata.sandbox.worker import JobError, Worker
from kdata.statistics import lines
from kdata.step import Step
from kdata.task import find_entry_point

# The stage's version is what it is made of: another compiler or another line here gives another shard.
VERSION = digest(
    *(p.read_text() for p in sorted(Path(__file__).parent.glob("*.py"))), version("torch"), version("triton")
)
PRELOAD = "kdata.align.job:warm"
# No GPU is wanted, and one that the zygote has started cannot be used in what it forks.
ENVIRONMENT = {"TORCHINDUCTOR_COMPILE_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
LINE_LENGTH = 100
BUSY = 6  # times as long as its CPU seconds that a task may take on a machine which others use


def step(seconds: float = 20.0, allow_aten: bool = False, longest: int = 0) -> Step[Task, Candidate]:
    """The stage: a Triton candidate for each task.

    Args:
        seconds: CPU time that one task may take.
        allow_aten: keep candidates that leave an operator to ATen; they name it in ``left_to_aten``.
        longest: lines of a candidate that is kept, blank ones not counted; 0 for any number. What a later filter would
            drop for its length need not be judged before.
    """
    parameters: dict[str, Any] = {"seconds": seconds, "allow_aten": allow_aten, "longest": longest}
    return Step("align", VERSION, Task, Candidate, partial(_align_all, **parameters), parameters)


def _align_all(
    tasks: Sequence[Task], seconds: float, allow_aten: bool, longest: int
) -> Iterable[Candidate | Dropped]:  # fmt: skip
    with lease(PRELOAD, **ENVIRONMENT) as worker:
        for task in tasks:
            name = f"{task.origin.repository} {task.symbol or task.entry_point}"
            try:
                candidate = align(task, worker, seconds)
            except AlignError as error:
                yield Dropped("align", task.id, error.reason, error.detail, name)
                continue
            reason, detail = _unwanted(candidate, allow_aten, longest)
            yield Dropped("align", task.id, reason, detail, name, candidate.source) if reason else candidate


def _unwanted(candidate: Candidate, allow_aten: bool, longest: int) -> tuple[str, str]:
    """Why a candidate is not kept, ("", "") if it is."""
    if candidate.left_to_aten and not allow_aten:
        return "left to ATen", ", ".join(candidate.left_to_aten)
    count = lines(candidate.source)
    return ("kernel too long", f"{count} lines, at most {longest}") if 0 < longest < count else ("", "")


def align(task: Task, worker: Worker, seconds: float = 20.0) -> Candidate:
    """The compiler's candidate for one task.

    Raises:
        AlignError: there is none; it says why.
    """
    payload = {"source": task.source, "entry_point": task.entry_point}
    try:
        found: dict[str, Any] = worker.call(
            "kdata.align.job:align", payload, Limits(wall=BUSY * seconds, cpu=seconds)
        ).value
    except JobError as error:
        raise AlignError(error.reason, error.detail) from error
    if "reason" in found:
        raise AlignError(found["reason"], found["detail"])
    return Candidate.make(
        task, formatted(found["text"]), "triton", "inductor", ops=tuple(found["operators"]), family=found["family"],
        left_to_aten=tuple(found["left"]), original=found["original"],
    )  # fmt: skip


def align_file(path: Path) -> Candidate:
    """Align a task file in the KernelBench interface.

    Raises:
        AlignError: there is no candidate for it.
        TaskError: the file is no task.
        OSError: the file cannot be read.
    """
    source = path.read_bytes().decode("utf-8", "replace")  # as the judge reads it
    origin = Origin("local", path.parent.name, "", path.name)
    with lease(PRELOAD, **ENVIRONMENT) as worker:
        return align(Task.make(source, find_entry_point(source), origin), worker)


def trace_operators(source: str, entry_point: str | None = None) -> tuple[str, ...]:
    """The operator sequence of a task's text; () where it cannot be traced.

    Raises:
        TaskError: no entry point is named, and it is the text of no task.
    """
    payload = {"source": source, "entry_point": entry_point or find_entry_point(source)}
    with lease(PRELOAD, **ENVIRONMENT) as worker:
        try:
            return tuple(worker.call("kdata.align.job:trace_operators", payload, Limits(wall=60, cpu=30)).value)
        except JobError:
            return ()


def formatted(source: str) -> str:
    """Python text in the form that ``ruff format`` gives it."""
    command = [find_ruff_bin(), "format", "--isolated", "--line-length", str(LINE_LENGTH), "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AlignError("not rewritten", done.stderr.strip().splitlines()[0][:300])
    return done.stdout
