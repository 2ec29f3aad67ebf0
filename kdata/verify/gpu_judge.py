"""What a GPU adds to a verdict: trials on the device, the task's own sizes, and time. The trusted side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from kdata.record import Candidate
from kdata.sandbox.pool import lease
from kdata.sandbox.worker import Answer, JobError
from kdata.verify import reasons
from kdata.verify.findings import Findings, RejectedError
from kdata.verify.gpu import Card, LostError, borrow, cards, healthy, held
from kdata.verify.gpu_full import UnmeasuredError, opened
from kdata.verify.options import Options
from kdata.verify.timing import Plan, Timer, kernel_names

# After these the device may be in any state.
ALARMING = frozenset({reasons.CRASH, reasons.TIMEOUT, reasons.RAISES, reasons.OUT_OF_BOUNDS, reasons.MEMORY})


def device(options: Options) -> str:
    """The kind of GPU to judge on, as receipts name it; "" for the interpreter, or where there is no GPU."""
    return f"cuda: {cards()[0].name}" if options.device == "cuda" and cards() else ""


def choose(device: str | None) -> Literal["cpu", "cuda"]:
    """The device that a user asks for; None: a GPU if there is one.

    Raises:
        ValueError: it is neither "cpu" nor "cuda".
    """
    if device is None:
        return "cuda" if cards() else "cpu"
    if device not in ("cpu", "cuda"):
        raise ValueError(f"unknown device {device!r}; known are cpu, cuda")
    return "cuda" if device == "cuda" else "cpu"


def call(candidate: Candidate, payload: Mapping[str, Any], given: bytes, options: Options) -> Answer:
    """Run the trials of the small variants on a GPU.

    Raises:
        JobError: the candidate's process gave no answer.
        LostError: the GPU does not compute any more.
    """
    files = {"given.bin": given, "candidate.py": candidate.source.encode()}
    with borrow() as card, held(card, alone=False), _watched(card):
        limits = card.limits(options.gpu_timeout, options.gpu_memory)
        with lease("torch", "kdata.verify.gpu_host:warm", **card.environment()) as worker:
            return worker.call(
                "kdata.verify.gpu_host:answer",
                dict(payload),
                limits,
                files,
                fetch=("returned.bin",),
            )


def measure(candidate: Candidate, mode: str, options: Options, found: Findings) -> None:
    """Run a candidate at its task's own sizes, and time it. What cannot be measured is noted, with why.

    Raises:
        RejectedError: it is wrong there, or its timing is.
        LostError: the GPU does not compute any more.
    """
    before = len(found.checks), len(found.trials)
    with borrow() as card, _watched(card):
        found.device = f"cuda: {card.name}"
        try:
            with held(card, alone=False, what="memory"):
                _measure(card, candidate, mode, options, found)
            return
        except UnmeasuredError as why:
            if "out of memory" not in str(why):
                found.check("measured", False, str(why)[:300])
                return
        except RejectedError as rejection:
            if rejection.reason != reasons.MEMORY:
                raise
        del found.checks[before[0] :], found.trials[before[1] :]  # others had the memory, perhaps: once more, alone
        try:
            with held(card, alone=True, what="memory"):
                _measure(card, candidate, mode, options, found)
        except UnmeasuredError as why:
            found.check("measured", False, str(why)[:300])


def _measure(card: Card, candidate: Candidate, mode: str, options: Options, found: Findings) -> None:
    with opened(candidate, mode, card, options.gpu_memory) as full:
        with held(card, alone=False):
            try:
                full.check()
            finally:
                found.trials += full.trials
            found.check("right at its own sizes", True, f"{len(full.trials)} draws")
            if not options.timed:
                return
            timer = Timer(full, card, Plan(baselines=options.baselines))
            timer.prepare()
        with held(card, alone=True):
            own = kernel_names(candidate.source)
            found.timing = timer.run(own)
        timer.object_to(found.timing, own)
        found.check("timed", True, found.timing.label)


@contextmanager
def _watched(card: Card) -> Iterator[None]:
    """After a failure that may have hurt the device, see whether it still computes.

    Raises:
        LostError: it does not.
    """
    try:
        yield
    except (RejectedError, JobError) as error:
        if (isinstance(error, JobError) or error.reason in ALARMING) and not healthy(card):
            raise LostError(f"{card.name} {card.uuid}") from error
        raise
