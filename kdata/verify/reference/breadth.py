"""What else a candidate holds for: larger batches than one, dtypes, layouts, constructor arguments, NaN, and gradients.

The trusted side. None of it is what a task asks for, so a candidate that fails it stays verified, and its receipt says
what it fails.
There are six exceptions. One that follows other numbers among its inputs, but is wrong at such as its kernels compare
with. One that follows other arguments of its constructor, but steps elsewhere than the reference does for sure with
such as round nothing. One that answers wrongly where the last dimension is one, or where one is at which the reference
has no number to give, as the deviation of one element. One that says which targets do not count, by torch's number or
name for it, and counts them. One that reads strides, and is right where all inputs are transposed views, but wrong
where some of them are, or where they are parts of wider rows, takes the strides of one for those of another, or of its
answer. And a candidate whose text offers a backward, and whose answer follows from its inputs, is rejected where one of
its gradients is wrong, or is none though the reference has one, or is some where the reference detaches what it is of:
training goes on without a word.
A backward that raises, an answer that is detached, and no backward at all are heard of in training: they are told.
So is one that writes into the gradients that it is given, as published libraries' do: other branches may share them;
one that has torch multiply its matrices; and one that is wrong the second time that a graph is gone through, for these
keep gradients where logits were. One that does not hear of ``eval()`` has other gradients in that mode, too: that is
told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kdata.record import Trial
from kdata.sandbox.worker import Answer, JobError
from kdata.verify import reasons
from kdata.verify.constants import says_ignored
from kdata.verify.evidence.compare import Tensors, leaves
from kdata.verify.evidence.findings import EVALUATES, Findings, RejectedError
from kdata.verify.evidence.trial import FLOATS, Expected, compare, failure
from kdata.verify.exchange.scratch import RETURNED
from kdata.verify.reference.styles import (
    BATCH,
    COUNTED,
    DETAILS,
    EVALUATED,
    GRADIENTS,
    SINGLE,
    STEPPED,
    NoGradientError,
)

ARGUMENT, NUMBER, IGNORED = "argument", "number", "ignored"
CHECKS = {"float16": "holds in float16", "bfloat16": "holds in bfloat16", "strided": "holds for transposed views",
          "beside": "holds for transposed views beside plain inputs", "pairs": "holds for two transposed views",
          "sliced": "holds for parts of wider rows", "rearranged": "holds for rows that lie in another order",
          "spaced": "holds for columns, of integers too",
          "nonfinite": "spreads NaN and infinity as the reference does",
          **{style: DETAILS[style] for style in GRADIENTS},
          "grouped": "holds where integers that the task sorts are not",
          IGNORED: "leaves out targets that torch ignores by default",
          "wrapped": "takes places that count from the end",
          ARGUMENT: "follows other arguments of its constructor",
          NUMBER: "follows other numbers among its inputs",
          STEPPED: "steps where the reference does, with other arguments",
          COUNTED: "follows numbers that its kernels name", BATCH: "holds for a larger batch",
          SINGLE: "holds for a dimension of one"}  # fmt: skip
SILENT = {**dict.fromkeys(set(GRADIENTS) - {"anew"}, (reasons.WRONG, reasons.STRUCTURE, reasons.OUT_OF_BOUNDS)),
          **dict.fromkeys((STEPPED, IGNORED), (reasons.WRONG,)),
          **dict.fromkeys(("beside", "pairs", "sliced", "rearranged", SINGLE),
                          (reasons.WRONG, reasons.OUT_OF_BOUNDS))}  # fmt: skip
UNSUPPORTED = "Unsupported data type"  # says Triton's interpreter of atomics of bfloat16, which GPUs have
NO_ATOMICS = "not seen: the interpreter has no atomics of this type"
LOST = re.compile(r"CUDA error|Triton Error \[CUDA\]")  # says who reached astray there, of all that comes after, too
STRIDES = re.compile(r"\.\s*(stride|is_contiguous)\s*\(")
OFFERS = re.compile(r"\b(backward|vjp|register_autograd|setup_context)\b")
LEAVES_GIVEN = "its backward leaves the gradients and inputs that it is given as they are"
# Operators that are a layer's work, whoever needs their answer: sums and products of elements are left to any backward.
PRODUCTS = frozenset(f"aten.{name}" for name in ("mm bmm addmm addbmm baddbmm mv addmv dot vdot matmul linear einsum "
                                                 "convolution convolution_backward").split())  # fmt: skip
OWN_BACKWARD = "leaves no product of its backward to torch"
ROUGH = 100.0  # times what is allowed
Run = Callable[[Expected, Sequence[int]], Answer]


class Judged(NamedTuple):
    """What became of one extra trial."""

    trial: Trial
    reason: str  # why it failed; "" if it passed
    overwrites: bool = False  # its backward left other numbers in what it was given
    called: frozenset[str] = frozenset()  # what it had torch compute
    more: bool = False  # it has gradients where the reference has none


def offers_gradients(source: str) -> bool:
    """Whether a candidate's text may define a backward of its own, in one of torch's ways."""
    return bool(OFFERS.search(source))


def look(expected: Expected, run: Run, found: Findings, source: str) -> None:
    """Note for each kind of extra trial whether the candidate, whose text is ``source``, passes all of them.

    Raises:
        RejectedError: it offers a gradient that is wrong, or takes one input's strides for another's.
    """
    if not expected.extra:
        return
    wider = expected.at(expected.extra)
    reports, detached = _reports(wider, run), False
    for style in dict.fromkeys(t["style"] for t in wider.trials):
        judged = [j for t, j in zip(wider.trials, reports, strict=True) if t["style"] == style]
        failed = [(j.trial, j.reason) for j in judged if j.reason]
        if style in (ARGUMENT, NUMBER):
            _tell_of_arguments(style, wider, reports, found)
            continue
        if style == COUNTED:
            _refuse_counted(wider, reports, found)
        if failed and failed[0][1] in SILENT.get(style, ()):
            _refuse(style, *failed[0], source, found)
        if style in GRADIENTS and failed and all(NoGradientError.__name__ in trial.detail for trial, _ in failed):
            detached = True
            continue
        found.check(CHECKS[style], not failed, _of(failed[0])[:300] if failed else "")
        found.trials += [j.trial for j in judged if not j.reason]
    more = [t["style"] for t, j in zip(wider.trials, reports, strict=True) if j.more and t["style"] != EVALUATED]
    if more:
        raise RejectedError(reasons.WRONG_GRADIENT, f"{CHECKS[more[0]]}: it gives some where the reference has none")
    if detached:
        tell_of_none(expected, found)
    _tell_of_products(wider, reports, found)
    if any(judged.overwrites for judged in reports):
        found.check(LEAVES_GIVEN, False, "its backward writes there: other branches of a graph may share them")


def _of(failed: tuple[Trial, str]) -> str:
    """What a failure shows; nothing of the kernel where the interpreter lacks what it asks for."""
    trial, reason = failed
    return NO_ATOMICS if UNSUPPORTED in trial.detail else f"{reason}: {trial.detail}"


def _refuse(style: str, trial: Trial, reason: str, source: str, found: Findings) -> None:
    """Reject what fails, without a word, where it seems to hold."""
    if style in GRADIENTS:
        if style == EVALUATED and any(check.name == EVALUATES and not check.passed for check in found.checks):
            return  # its answer is the one in the other mode: it has been told
        missing = "it gives none where the reference does" if reason == reasons.STRUCTURE else ""
        raise RejectedError(reasons.WRONG_GRADIENT, f"{CHECKS[style]}: {missing or trial.detail}")
    if style == STEPPED:  # where it follows no others it is made for the task's own
        if _passed(ARGUMENT, found):
            raise RejectedError(reason, f"{DETAILS[style]}: {trial.detail}")
        return
    if style == IGNORED:
        if says_ignored(source):
            raise RejectedError(reason, f"{DETAILS[style]}: {trial.detail}")
        return
    if style == SINGLE:
        raise RejectedError(reasons.WRONG_ODD, f"{trial.sizes}: {trial.detail}")
    if _passed("strided", found) and STRIDES.search(source):
        raise RejectedError(reason, f"{DETAILS[style]}: {trial.detail}")


def _refuse_counted(wider: Expected, reports: Sequence[Judged], found: Findings) -> None:
    """Reject what is wrong at numbers that its kernels compare with, and follows all others, be it roughly.

    Powers by logarithms lose some digits at any number; what stops to count does something else.
    """
    pairs = [(t, j) for t, j in zip(wider.trials, reports, strict=True) if t["style"] in (NUMBER, COUNTED)]
    follows = all(not j.reason or _rough(j) for t, j in pairs if t["style"] == NUMBER)
    exact = _passed(NUMBER, found)
    for trial, judged in pairs:
        wrong = trial["style"] == COUNTED and judged.reason == reasons.WRONG
        if wrong and (exact or follows and not _rough(judged)):
            raise RejectedError(reasons.BRANCH, f"{trial['detail']}: {judged.trial.detail}")


def _rough(judged: Judged) -> bool:
    """Whether it is wrong by no more than what digits are lost come to, not by another number."""
    return judged.reason == reasons.WRONG and judged.trial.max_abs <= ROUGH * judged.trial.atol


def _passed(style: str, found: Findings) -> bool:
    return any(check.name == CHECKS[style] and check.passed for check in found.checks)


def _tell_of_arguments(
    style: str, wider: Expected, reports: Sequence[Judged], found: Findings
) -> None:  # fmt: skip
    """Which arguments of the constructor, or numbers among the inputs, the answer follows, and which not, or not all.

    A kernel that is made for a task's own, as those of compilers are, is right for the task: none is rejected for it.
    """
    pairs = [(t["detail"], j) for t, j in zip(wider.trials, reports, strict=True) if t["style"] == style]
    failed = [f"{detail}: {j.reason}: {j.trial.detail}" for detail, j in pairs if j.reason]
    followed = [detail for detail, j in pairs if not j.reason]
    found.check(CHECKS[style], not failed, "; ".join(failed or followed)[:300])
    found.trials += [j.trial for _, j in pairs if not j.reason]


def _tell_of_products(wider: Expected, reports: Sequence[Judged], found: Findings) -> None:
    """Note whether its backward has torch multiply matrices, if it has one."""
    pairs = zip(wider.trials, reports, strict=True)
    derived = [judged for trial, judged in pairs if trial["style"] in GRADIENTS and not judged.reason]
    called = frozenset[str]().union(*(judged.called for judged in derived)) & PRODUCTS
    if derived:
        found.check(OWN_BACKWARD, not called, ", ".join(sorted(called)))


def tell_of_none(expected: Expected, found: Findings) -> None:
    """Note that a candidate offers no gradients, where the reference's answer may have some."""
    floats = (n for _, n in leaves(expected.trials[0]["kept"]["eager"]) if "tensor" in n)
    if any(expected.kept.entry(n["tensor"])["dtype"] in FLOATS for n in floats):
        found.check(CHECKS["gradient"], False, "it offers none: its answer is detached")


def _reports(wider: Expected, run: Run, first: int = 0) -> list[Judged]:
    """Each trial's record from the ``first`` on, and why it failed.

    Where one ends the candidate's process each has one of its own; after one that loses it its device, the rest have.
    """
    numbers = range(first, len(wider.trials))
    try:
        reports = _judged(wider, numbers, run) if numbers else []
    except JobError as error:
        if len(numbers) == 1:
            return [Judged(failure(wider, first, str(error)), reasons.CRASH)]
        return [judged for n in numbers for judged in _alone(wider, n, run)]
    ended = next((n for n, judged in enumerate(reports, 1) if LOST.search(judged.trial.detail)), len(reports))
    return reports[:ended] + (_reports(wider, run, first + ended) if ended < len(reports) else [])


def _alone(wider: Expected, number: int, run: Run) -> list[Judged]:
    try:
        return _judged(wider, [number], run)
    except JobError as error:
        return [Judged(failure(wider, number, str(error)), reasons.CRASH)]


def _judged(wider: Expected, numbers: Sequence[int], run: Run) -> list[Judged]:
    answer = run(wider, numbers)
    value: dict[str, Any] = answer.value
    if "failed" in value:
        outcome, detail = value["failed"]
        return [Judged(failure(wider, n, str(detail)), str(outcome)) for n in numbers]
    returned = Tensors(value["manifest"], answer.files.get(RETURNED, b""))
    return [
        Judged(
            *compare(wider, n, report, returned),
            bool(report.get("overwrites")),
            frozenset(report["aten"]),
            bool(report.get("more")),
        )
        for n, report in zip(numbers, value["trials"], strict=True)
    ]
