"""Numbers that a candidate names and no size here reaches, brought within reach: is it right beyond them, too?

The trusted side. Where a wrapper says ``n > 300_000_000``, or a kernel ``pid % 7919 == 7918``, it runs with smaller
numbers in their place (``beyond.rescaled``). What decides nothing but whether a size is large, as between two
kernels that compute the same, may be any number; what has a part in the answer where it was judged (the width of a
block, a number of the task's) shows by that it may not be larger, either, and is left alone.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Sequence

from kdata.record import Candidate
from kdata.sandbox.worker import Answer, JobError
from kdata.task import INIT_INPUTS, INPUTS
from kdata.verify import reasons
from kdata.verify.beyond.rescaled import Group, Numbers
from kdata.verify.constants import whole
from kdata.verify.evidence.compare import Tensors, leaves
from kdata.verify.evidence.findings import Findings, Launch, RejectedError
from kdata.verify.evidence.trial import Expected, compare
from kdata.verify.exchange.scratch import RETURNED

CHECK = "is right beyond numbers that no size here reaches"
KINDS = ("base", "odd", "large", "mixed")  # of the last all axes are alike, and products of two squares
SIZES = 4  # of what is given, to which a number is made equal
WRONG = frozenset({reasons.WRONG, reasons.STRUCTURE, reasons.OUT_OF_BOUNDS, reasons.MUTATES})
Run = Callable[[str, Sequence[int]], Answer]


def look(candidate: Candidate, expected: Expected, run: Run, found: Findings) -> None:
    """Run the candidate with other numbers; ``run``: a text of its, at these trials.

    What it launched and was right with, where only what calls its kernels was read otherwise, is noted: that is judged,
    at whatever size it does so.

    Raises:
        RejectedError: it answers wrongly beyond a number that no trial has exceeded.
    """
    chosen = [n for n in (_first(expected, kind) for kind in KINDS) if n is not None]
    # What a reference asks about is its own; of a clamp that is told as the number behind its end.
    reached = _said(candidate) | {abs(n) - less for n in expected.asked for less in (0, 1)}
    reached |= {n for number in chosen for n in _extents(expected, number)}
    numbers = Numbers(candidate.source, reached, candidate.task.entry_point)
    if not (numbers.groups and chosen):
        return

    def wrong(instead: dict[int, int]) -> tuple[str | None, list[Launch]]:
        return _wrong(expected, chosen, lambda: run(numbers.text(instead), chosen))

    for group in numbers.groups:
        for instead in _tries(group, _sizes(expected, chosen[0])):
            detail, launches = wrong(instead)
            found.lowered += launches if not (detail or numbers.in_kernels(instead)) else []
            if detail and wrong({n: group.larger()[n] for n in instead})[0] == "":
                said = ", ".join(f"{abs(n)} read as {m}" for n, m in instead.items())
                found.check(CHECK, False, f"line {group.line}: {said}: {detail}"[:300])
                raise RejectedError(reasons.BRANCH, f"line {group.line}, with {said}: {detail}")
    found.check(CHECK, True, f"{len(numbers.groups)} in its text")


def _tries(group: Group, sizes: Sequence[int]) -> Iterator[dict[int, int]]:
    """What stands in place of a group's numbers, of all of them and of each by itself."""
    yield group.smaller()
    yield group.smaller(1)
    if len(group.numbers) > 1:
        yield from ({number: 2} for number in group.numbers)
    if group.equal and len(group.numbers) == 1:
        yield from ({group.numbers[0]: size} for size in sizes)


def _said(candidate: Candidate) -> set[int]:
    """Numbers that the reference itself computes with."""
    body = [s for s in ast.parse(candidate.task.source).body if getattr(s, "name", "") not in (INPUTS, INIT_INPUTS)]
    classes = (s for s in body if isinstance(s, ast.FunctionDef | ast.ClassDef))
    return {abs(v) for s in classes for n in ast.walk(s) if (v := whole(n)) is not None}


def _extents(expected: Expected, number: int) -> set[int]:
    """Dimensions of all that a trial is given and answers: 1536 columns of a weight are no size out of reach."""
    trial, found = expected.trials[number], set()
    for tensors, tree in ((expected.given, trial["given"]["state"]), (expected.given, trial["given"]["inputs"]),
                          (expected.kept, trial["kept"]["eager"])):  # fmt: skip
        for _, node in leaves(tree):
            if "tensor" in node:
                found |= set(tensors.entry(node["tensor"])["shape"])
    return found


def _first(expected: Expected, kind: str) -> int | None:
    """The first ordinary trial of a kind of variant."""
    numbers = expected.numbers(kind)
    return next((n for n in numbers if expected.trials[n]["style"] == "natural"), None)


def _sizes(expected: Expected, number: int) -> list[int]:
    """How many elements a trial's first tensor has, and its dimensions."""
    nodes = leaves(expected.trials[number]["given"]["inputs"])
    shape: list[int] = next((expected.given.entry(n["tensor"])["shape"] for _, n in nodes if "tensor" in n), [])
    return list(dict.fromkeys([math.prod(shape), *shape]))[:SIZES]


def _wrong(
    expected: Expected, chosen: Sequence[int], run: Callable[[], Answer]
) -> tuple[str | None, list[Launch]]:  # fmt: skip
    """What is wrong with what it answers, and what it launched for the trials that are right.

    "" where nothing is, or a trial refuses; None where it gave no answer.
    """
    try:
        answer = run()
    except JobError:  # out of time, perhaps: that says nothing
        return None, []
    if "failed" in answer.value:
        return None, []
    returned = Tensors(answer.value["manifest"], answer.files.get(RETURNED, b""))
    launches: list[Launch] = []
    for number, report in zip(chosen, answer.value["trials"], strict=True):
        if report["aten"]:
            return f"{reasons.ATEN}: {', '.join(report['aten'])}", []
        trial, reason = compare(expected, number, report, returned)
        if reason in WRONG:
            return f"{reason}: {trial.detail}", []
        launches += [] if reason else report["launches"]
    return "", launches
