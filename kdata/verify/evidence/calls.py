"""Calls of a candidate, where its options say: what it gave, and whether it is right at one trial by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from kdata.record import Candidate, Trial
from kdata.sandbox.pool import lease
from kdata.sandbox.worker import Answer, JobError
from kdata.verify.candidate.source import landmarks
from kdata.verify.evidence.compare import Tensors
from kdata.verify.evidence.trial import Expected, compare
from kdata.verify.exchange.scratch import GIVEN, RETURNED, SOURCE
from kdata.verify.gpu import judge as gpu_judge
from kdata.verify.gpu.judge import Seat
from kdata.verify.options import INTERPRETED, Options

Far = Literal["", "far off", "in fractions"]


def call(
    candidate: Candidate, expected: Expected, numbers: Sequence[int], options: Options, backwards: bool = True,
    ablate: int | None = 0, few: int = 0, seat: Seat | None = None, shown: bool = False,
) -> Answer:  # fmt: skip
    """Run trials by their ``numbers``; the one in place ``ablate`` again, and in all other ways; None for none of them.

    ``few``: how many of a launch's programs are interpreted, with those that its text names; 0 for all of them.
    ``seat``: the process on a GPU that goes on to the task's own sizes.  ``shown``: as for ``works_alone``.

    Raises:
        JobError: the candidate's process gave no answer.
        LostError: the GPU does not compute any more.
    """
    payload = {"manifest": expected.manifest, "mode": expected.mode, "ablate": ablate,
               "programs": few, "named": landmarks(candidate.source) if few else [], "seconds": options.limits().cpu,
               "trials": [given | {"shown": shown} for given in expected.sequence(numbers, backwards)],
               "otherwise": [trial["given"] | trial["way"] for trial in expected.otherwise]}  # fmt: skip
    if seat is not None:
        return seat.trials(payload, expected.given_bytes)
    if options.device == "cuda":
        return gpu_judge.call(candidate, payload, expected.given_bytes, options)
    return interpreted(candidate, payload, expected.given_bytes, options)


def interpreted(
    candidate: Candidate, payload: dict[str, Any], given: bytes, options: Options, job: str = "host:answer"
) -> Answer:  # fmt: skip
    """Answer a payload in Triton's interpreter.

    Raises:
        JobError: the candidate's process gave no answer.
    """
    files = {GIVEN: given, SOURCE: candidate.source.encode()}
    with lease("torch", "kdata.verify.candidate.host:warm", **INTERPRETED) as worker:
        job = f"kdata.verify.candidate.{job}"
        return worker.call(job, payload, options.limits(len(given)), files, fetch=(RETURNED,))


def outlined(
    candidate: Candidate, expected: Expected, outlines: list[Any], options: Options, far: Far = ""
) -> Answer:  # fmt: skip
    """Call it with tensors without memory: what calls its kernels runs, and no kernel does.

    ``far``: its kernels run all the same, on addresses alone, and are asked what these are or how they were counted.

    Raises:
        JobError: the candidate's process gave no answer.
    """
    trials = [{"outline": outline, "far": far} for outline in outlines]
    payload = {"manifest": [], "mode": expected.mode, "ablate": None, "trials": trials}
    return interpreted(candidate, payload, b"", options)


def placed(candidate: Candidate, expected: Expected, options: Options) -> Answer:
    """Call it as in its first trial where what is on the host is told from the rest: see ``candidate.placed``.

    Raises:
        JobError: the candidate's process gave no answer.
    """
    payload = {"manifest": expected.manifest, "mode": expected.mode, "given": expected.trials[0]["given"]}
    return interpreted(candidate, payload, b"", options, "placed:answer")


def trained(
    candidate: Candidate, expected: Expected, options: Options, seeds: Sequence[int], wanted: dict[str, Any]
) -> Answer:  # fmt: skip
    """Call it as in its first trial, but in training mode and once for each seed: see ``candidate.training``.

    ``wanted``: which gradients it is then asked for; empty for none.

    Raises:
        JobError: the candidate's process gave no answer.
    """
    given = expected.sequence([0], backwards=False)[0]
    payload = {"manifest": expected.manifest, "given": given, "seeds": [*seeds], "wanted": wanted}
    return interpreted(candidate, payload, expected.given_bytes, options, "training:answer")


def ends_idle(candidate: Candidate, expected: Expected, options: Options) -> bool:
    """Whether its first call ends in time where none of its kernels runs, be it with an error."""
    try:
        placed(candidate, expected, options)
    except JobError:
        return False
    return True


def works_at(candidate: Candidate, expected: Expected, kind: str, options: Options) -> bool:
    """Whether a candidate is right at one kind of variant, run alone."""
    numbers = expected.numbers(kind, "large" if kind == "double" else kind)
    return bool(numbers) and works_alone(candidate, expected, options, numbers[0], False)


def works_alone(
    candidate: Candidate, expected: Expected, options: Options, number: int, backwards: bool, shown: bool = False
) -> bool:  # fmt: skip
    """Whether a candidate is right at one trial, run alone, its programs first to last or last to first.

    ``shown``: with numbers that show wherever a mask leaves something unloaded.
    """
    seen = _seen(candidate, expected, options, [number], backwards, shown)
    return bool(seen) and not seen[0][1]


def unfused(
    candidate: Candidate, expected: Expected, options: Options, numbers: Sequence[int]
) -> dict[int, Trial]:  # fmt: skip
    """These trials where a GPU's compiler fuses no products and sums, if that makes all of them right."""
    if options.device == "cpu" or candidate.language != "triton":
        return {}
    seen = _seen(candidate, expected, replace(options, fused=False), numbers, False)
    right = bool(seen) and not any(reason for _, reason in seen)
    return {number: trial for number, (trial, _) in zip(numbers, seen, strict=True)} if right else {}


def delayed(
    candidate: Candidate, expected: Expected, options: Options, numbers: Sequence[int]
) -> list[tuple[Trial, str]]:  # fmt: skip
    """These trials with why they fail, where warps wait after barriers (``cuda.delays``); none where it cannot be run.

    Raises:
        RejectedError: it does not compile so.
    """
    return _seen(candidate, expected, replace(options, delayed=True), numbers, False)


def _seen(
    candidate: Candidate, expected: Expected, options: Options, numbers: Sequence[int], backwards: bool,
    shown: bool = False,
) -> list[tuple[Trial, str]]:  # fmt: skip
    """Trials with the reasons for which they fail, run in a process of their own; none where it gives no answer."""
    try:
        answer = call(candidate, expected, numbers, options, backwards, ablate=None, shown=shown)
    except JobError:
        return []
    if "failed" in answer.value:
        return []
    returned = Tensors(answer.value["manifest"], answer.files.get(RETURNED, b""))
    reports = answer.value["trials"]
    return [compare(expected, n, report, returned) for n, report in zip(numbers, reports, strict=True)]
