"""What else a candidate holds for: larger batches than one, dtypes, layouts, constructor arguments, NaN, and gradients.

The trusted side. None of it is what a task asks for, so a candidate that fails it stays verified, and its receipt says
what it fails.
There are two exceptions. One that reads strides, and is right where all inputs are transposed views, but wrong where
some of them are, takes the strides of one for those of another. And a candidate whose text offers a backward, and whose
answer follows from its inputs, is rejected where one of its gradients is wrong, or is none though the reference has
one: training goes on without a word.
A backward that raises, an answer that is detached, and no backward at all are heard of in training: they are told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from kdata.record import Trial
from kdata.sandbox.worker import Answer, JobError
from kdata.verify import reasons
from kdata.verify.compare import Tensors, leaves
from kdata.verify.findings import Findings, RejectedError
from kdata.verify.reference.styles import GRADIENTS
from kdata.verify.scratch import RETURNED
from kdata.verify.trial import FLOATS, Expected, compare, failure

ARGUMENT, NUMBER = "argument", "number"
CHECKS = {"float16": "holds in float16", "bfloat16": "holds in bfloat16", "strided": "holds for transposed views",
          "beside": "holds for transposed views beside plain inputs", "pairs": "holds for two transposed views",
          "nonfinite": "spreads NaN and infinity as the reference does", "gradient": "gradients",
          "summed": "gradients of a sum", "frozen": "gradients of weights where inputs need none",
          "grouped": "holds where integers that the task sorts are not",
          "ignored": "leaves out targets that torch ignores by default",
          ARGUMENT: "follows other arguments of its constructor",
          NUMBER: "follows other numbers among its inputs", "batch": "holds for a larger batch"}  # fmt: skip
SILENT = {**dict.fromkeys(GRADIENTS, (reasons.WRONG, reasons.STRUCTURE, reasons.OUT_OF_BOUNDS)),
          **dict.fromkeys(("beside", "pairs"), (reasons.WRONG, reasons.OUT_OF_BOUNDS))}  # fmt: skip
STRIDES = re.compile(r"\.\s*stride\s*\(")
OFFERS = re.compile(r"\b(backward|vjp|register_autograd|setup_context)\b")
Run = Callable[[Expected, Sequence[int]], Answer]


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
    reports = _reports(wider, run)
    for style in dict.fromkeys(t["style"] for t in wider.trials):
        judged = [j for t, j in zip(wider.trials, reports, strict=True) if t["style"] == style]
        failed = [(trial, reason) for trial, reason in judged if reason]
        if style in (ARGUMENT, NUMBER):
            _tell_of_arguments(style, wider, reports, found)
            continue
        if failed and failed[0][1] in SILENT.get(style, ()):
            _refuse(style, *failed[0], source, found)
        found.check(CHECKS[style], not failed, f"{failed[0][1]}: {failed[0][0].detail}"[:300] if failed else "")
        found.trials += [trial for trial, reason in judged if not reason]


def _refuse(style: str, trial: Trial, reason: str, source: str, found: Findings) -> None:
    """Reject what fails, without a word, where it seems to hold."""
    if style in GRADIENTS:
        missing = "it gives none where the reference does" if reason == reasons.STRUCTURE else ""
        raise RejectedError(reasons.WRONG_GRADIENT, f"{CHECKS[style]}: {missing or trial.detail}")
    held = any(check.name == CHECKS["strided"] and check.passed for check in found.checks)
    if held and STRIDES.search(source):
        raise RejectedError(reason, f"some inputs are transposed views, the others are not: {trial.detail}")


def _tell_of_arguments(
    style: str, wider: Expected, reports: Sequence[tuple[Trial, str]], found: Findings
) -> None:  # fmt: skip
    """Which arguments of the constructor, or numbers among the inputs, the answer follows, and which not, or not all.

    A kernel that is made for a task's own, as those of compilers are, is right for the task: none is rejected for it.
    """
    pairs = [(t["detail"], j) for t, j in zip(wider.trials, reports, strict=True) if t["style"] == style]
    failed = [f"{detail}: {reason}: {trial.detail}" for detail, (trial, reason) in pairs if reason]
    followed = [detail for detail, (_, reason) in pairs if not reason]
    found.check(CHECKS[style], not failed, "; ".join(failed or followed)[:300])
    found.trials += [trial for _, (trial, reason) in pairs if not reason]


def tell_of_none(expected: Expected, found: Findings) -> None:
    """Note that a candidate offers no gradients, where the reference's answer may have some."""
    floats = (n for _, n in leaves(expected.trials[0]["kept"]["eager"]) if "tensor" in n)
    if any(expected.kept.entry(n["tensor"])["dtype"] in FLOATS for n in floats):
        found.check(CHECKS["gradient"], False, "it offers none: its answer is detached")


def _reports(wider: Expected, run: Run) -> list[tuple[Trial, str]]:
    """Each trial's record and why it failed; one after another where one of them ends the candidate's process."""
    numbers = range(len(wider.trials))
    try:
        return _judged(wider, numbers, run)
    except JobError as error:
        if len(wider.trials) == 1:
            return [(failure(wider, 0, str(error)), reasons.CRASH)]
    return [judged for n in numbers for judged in _alone(wider, n, run)]


def _alone(wider: Expected, number: int, run: Run) -> list[tuple[Trial, str]]:
    try:
        return _judged(wider, [number], run)
    except JobError as error:
        return [(failure(wider, number, str(error)), reasons.CRASH)]


def _judged(wider: Expected, numbers: Sequence[int], run: Run) -> list[tuple[Trial, str]]:
    answer = run(wider, numbers)
    value: dict[str, Any] = answer.value
    if "failed" in value:
        outcome, detail = value["failed"]
        return [(failure(wider, n, str(detail)), str(outcome)) for n in numbers]
    returned = Tensors(value["manifest"], answer.files.get(RETURNED, b""))
    return [compare(wider, n, report, returned) for n, report in zip(numbers, value["trials"], strict=True)]
