"""A candidate at the task's own sizes, where these were scaled down, or beyond them, where they are small.

The trusted side. Some programs of each launch are run.

What is compared is what these programs wrote, without atomics, and of several launches only what follows from inputs
and from programs that ran, too: in the rest others, which did not run, have a part. Where that tells nothing because
there are other kernels at these sizes, and at trust level, all programs are run if they are not too many.
"""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from kdata.sandbox.worker import Answer, JobError
from kdata.verify import reasons
from kdata.verify.candidate.subset import jitted
from kdata.verify.constants import name_of
from kdata.verify.evidence.compare import EXACT, Tensors, UnequalError, errors, exactly, leaves, structure
from kdata.verify.evidence.findings import Findings, Launch, RejectedError
from kdata.verify.evidence.trial import Expected, chosen_of, nature, span_of
from kdata.verify.exchange.scratch import LATE, RETURNED

GROSS = 30.0  # times what is allowed: the measure is eager's own answer, and one run says how well-conditioned that is
OWN = "the task's own sizes"
CHECK, BEYOND = "holds at its own sizes", "holds beyond its own sizes"
ALL = "holds with all of its programs"
MANY, LEAST = 200, 0.7  # programs of a larger sample, and the share of an answer that all of them must write
ENTIRE = 8192  # programs of all launches up to which they are all run
PROGRAMS, FEW = 12, 2  # of a launch that gives the answer alone, and of one whose answer is not looked at
MOST_TURNS = 3, 8  # configurations of an autotuner that are run there: some are right for few elements only
PATIENCE = 20.0  # seconds of CPU that runs of all programs may take together, as those tell that ran
IDLE, BUSY = 0.5, 1.5  # seconds of CPU that a call takes without its programs: many do, and hardly any takes more
FEWEST = 1e-3  # seconds of CPU that each trial took at least
TRIED = 4  # a sample that shows what dear programs cost takes such a part of what is left
Run = Callable[[Expected, Sequence[int], int], Answer]


def look(expected: Expected, run: Run, found: Findings, thorough: bool = False) -> list[Launch]:
    """Note whether it holds; return the launches of which that can be said.

    Raises:
        RejectedError: it does not.
    """
    known: list[Launch] = []
    untold: list[tuple[int, Answer]] = []
    programs = PROGRAMS if len(found.signatures) == 1 else FEW
    turns = max(1, min(found.choices, MOST_TURNS[thorough]))  # each call is the next configuration's turn
    numbers = [*expected.numbers("whole", "grown") * turns, *expected.numbers("beyond")]
    called: list[tuple[int, dict[str, Any]]] = []
    for number, answer in _answers(expected, numbers, run, programs, found):
        report = answer.value["trials"][0]
        if report["outcome"] == LATE:
            sizes = expected.variants[expected.trials[number]["variant"]]["sizes"]
            found.check(_said_of(expected, [number]), False, f"not seen: {report['detail']} at {sizes or OWN}")
            continue
        before = next((earlier for earlier in called if _kernels(earlier[1]) > _kernels(report)), None)
        called.append((number, report))
        if before and _doubtful(expected, number, answer):
            few = _programs(before[1]) + _programs(report) <= ENTIRE
            _note(expected, number, _entirely(expected, number, run, before[0])[0] if few else None, found)
            continue
        told = _holds(expected, number, answer, run, found)
        known += _told(report) if told else []
        untold += [(number, answer)] if told and _untold(report, found, thorough) else []
    return known + _entire(expected, untold, run, found)


def _entire(
    expected: Expected, untold: Sequence[tuple[int, Answer]], run: Run, found: Findings
) -> list[Launch]:  # fmt: skip
    """Run all programs of trials, one at each size before others there, the cheapest first; return what that tells of.

    Raises:
        RejectedError: an answer is wrong.
    """
    known: list[Launch] = []
    drawn = Counter[int]()
    ordered: list[tuple[int, float, int, Answer]] = []
    for number, answer in dict(untold).items():  # a configuration's turn comes within one process only
        variant = expected.trials[number]["variant"]
        ordered.append((drawn[variant], _estimated(answer), number, answer))
        drawn[variant] += 1
    left = PATIENCE
    for _, _, number, answer in sorted(ordered, key=lambda entry: entry[:3]):
        cost = _cost(expected, number, answer, run, left)
        if cost > left:
            found.check(ALL, False, "not seen: some of them take too long")
            continue
        detail, spent = _entirely(expected, number, run)
        left -= cost if detail is None else spent  # an estimate counts what a call takes without its programs, too
        if detail is not None:
            reports = [other.value["trials"][0] for one, other in untold if one == number]
            known += [launch for report in reports for launch in report["launches"]]
        if detail:
            _note(expected, number, detail, found)
    return known


def _told(report: dict[str, Any]) -> list[Launch]:
    """The launches of which some programs wrote what was compared."""
    if not _partly(report):
        return []
    return [launch for launch, told in zip(report["launches"], report["told"], strict=True) if told]


def _doubtful(expected: Expected, number: int, answer: Answer) -> bool:
    """Whether a trial of which some programs ran seems not to hold: few may have filled a table."""
    report = answer.value["trials"][0]
    return report["outcome"] == "out of bounds" or bool(wrong(expected, number, report, returned_by(answer)))


def may_wait(text: str) -> bool:
    """Whether a kernel may wait for another program's word: these run first to last, or it waits for ever."""
    for kernel in jitted(ast.parse(text)):
        for node in ast.walk(kernel):
            if isinstance(node, ast.While) or (isinstance(node, ast.Call) and name_of(node.func) == "atomic_cas"):
                return True
            if isinstance(node, ast.keyword) and node.arg == "volatile":
                return True
    return False


def _answers(
    expected: Expected, numbers: Sequence[int], run: Run, programs: int, found: Findings
) -> Iterator[tuple[int, Answer]]:  # fmt: skip
    """What trials gave of which some programs ran; all in one process, or where that ends early each in its own."""
    try:
        answer = run(expected, numbers, programs) if numbers else None
    except JobError as error:
        if len(numbers) > 1 and error.reason != "timeout":
            for number in numbers:
                yield from _answers(expected, [number], run, programs, found)
        else:
            found.check(_said_of(expected, numbers), False, str(error)[:300])
        return
    if answer is None:
        return
    if "failed" in answer.value:
        raise RejectedError(*answer.value["failed"])
    reports = answer.value["trials"]
    taken = [min(answer.cpu, max(0.0, float(report["seconds"]))) for report in reports]  # the child says so
    for number, report, seconds in zip(numbers, reports, taken, strict=True):
        cpu = answer.cpu * (seconds + FEWEST) / (sum(taken) + FEWEST * len(taken))
        yield number, replace(answer, value=answer.value | {"trials": [report]}, cpu=cpu)


def _said_of(expected: Expected, numbers: Sequence[int]) -> str:
    """What trials are about: the task's own sizes where any of them is at these."""
    kinds = {expected.variants[expected.trials[number]["variant"]]["kind"] for number in numbers}
    return CHECK if "whole" in kinds else BEYOND


def _holds(expected: Expected, number: int, answer: Answer, run: Run, found: Findings) -> bool:
    """Note whether one trial holds as far as its programs ran; return whether anything can be said of it.

    Raises:
        RejectedError: it does not.
    """
    report = answer.value["trials"][0]
    kind = expected.variants[expected.trials[number]["variant"]]["kind"]
    if report["outcome"] == "out of bounds":
        if not _misled(expected, number, report, run):
            raise RejectedError(reasons.OUT_OF_BOUNDS, report["detail"])
        _note(expected, number, None, found)
        return False
    if kind == "whole":  # beyond its own sizes a wrapper may refuse
        found.own += report["launches"]
        _genuine(report)
    detail = wrong(expected, number, report, returned_by(answer))
    _note(expected, number, detail or _left_out(expected, number, answer, run, kind == "grown"), found)
    return True


def _note(expected: Expected, number: int, detail: str | None, found: Findings) -> None:
    """Note whether an answer is right; ``detail``: what is wrong with it, None where that is not known.

    Raises:
        RejectedError: it is wrong.
    """
    sizes = expected.variants[expected.trials[number]["variant"]]["sizes"]
    said = "not seen: it reads what few programs have left" if detail is None else detail or sizes
    found.check(_said_of(expected, [number]), detail == "", said)
    if detail:
        raise RejectedError(reasons.WRONG_LARGE, f"at {sizes or OWN}: {detail}")


def _misled(expected: Expected, number: int, report: dict[str, Any], run: Run) -> bool:
    """Whether a kernel may have read outside for want of what another one's programs, most of which did not run, write.

    Where all of them can run that tells.
    """
    if len(report["launches"]) < 2:
        return False
    whole = _ran_again(expected, number, run, 0) if _programs(report) <= ENTIRE else None
    return whole is None or whole.value["trials"][0]["outcome"] != "out of bounds"


def _covered(expected: Expected, number: int, report: dict[str, Any], returned: Tensors) -> float:
    """The share of the answer that all programs write if the others write as much as those that ran; 1: unknown.

    What a store's mask spares counts, too, where it is right as it is: in a copy that is changed in place.

    Of the last ones, which may have a row only, what they write counts, and they do not: where time is over soon, half
    of those that ran are such.
    """
    if report["outcome"] != "ok" or len(report["launches"]) != 1 or "written" not in report:
        return 1.0
    programs = math.prod(report["launches"][0]["grid"])
    eager = dict(leaves(expected.trials[number]["kept"]["eager"]))
    got, spared = dict(leaves(report["outputs"])), dict(leaves(report["spared"]))
    masks, ran = [], max(1, report["programs"] - report["ends"])
    for path, node in leaves(report["written"]):
        if "tensor" not in node:
            continue
        mask, wanted = returned.array(node["tensor"]) != 0, eager.get(path, {})
        if "tensor" in wanted and expected.kept.entry(wanted["tensor"])["shape"] == list(mask.shape):
            right = returned.array(got[path]["tensor"]) == expected.kept.array(wanted["tensor"])
            mask |= right & (returned.array(spared[path]["tensor"]) != 0)
        masks.append(mask)
    return min((float(m.mean()) * programs / ran for m in masks if m.size), default=1.0)


def _left_out(expected: Expected, number: int, answer: Answer, run: Run, may_be_thin: bool) -> str:
    """What of the answer no program writes, where those that ran let one think so and a larger sample shows it."""
    report, returned = answer.value["trials"][0], returned_by(answer)
    thin = not may_be_thin and _covered(expected, number, report, returned) < LEAST
    if not (thin or _too_few(expected, number, report, returned)):
        return ""
    if (many := _ran_again(expected, number, run, MANY)) is None:
        return ""
    report, returned = many.value["trials"][0], returned_by(many)
    share = _covered(expected, number, report, returned) if thin else 1.0
    if share < LEAST and not (_programs(report) <= ENTIRE and _right(expected, number, run)):
        return f"{share:.0%} of the answer is written"  # and the rest is not zeros that torch made
    return _too_few(expected, number, report, returned)


def _ran_again(expected: Expected, number: int, run: Run, programs: int) -> Answer | None:
    """One trial with so many programs of each launch; None where that cannot be had."""
    try:
        answer = run(expected, [number], programs)
    except JobError:
        return None
    late = "failed" in answer.value or answer.value["trials"][-1]["outcome"] == LATE
    return None if late else answer


def _too_few(expected: Expected, number: int, report: dict[str, Any], returned: Tensors) -> str:
    """Whether all programs write less than there is to write, if none writes more than one of those that ran.

    What is right without having been written need not be.
    """
    if (
        not _partly(report)
        or len(report["launches"]) > 1
        or not report.get("most")
        or "tensor" not in report["written"]
    ):
        return ""
    there = math.prod(report["launches"][0]["grid"]) * int(report["most"])
    ours, node = expected.kept, expected.trials[number]["kept"]["eager"]
    mask = returned.array(report["written"]["tensor"]) != 0
    got = returned.array(report["outputs"]["tensor"])
    if "tensor" not in node or ours.array(node["tensor"]).shape != got.shape:
        return ""
    needed = int((mask | (got != ours.array(node["tensor"]))).sum())
    return f"{there} of {needed} elements are written" if there < needed else ""


def _right(expected: Expected, number: int, run: Run) -> bool:
    """Whether the answer of all programs can be had, and is right."""
    if (answer := _ran_again(expected, number, run, 0)) is None:
        return False
    report = answer.value["trials"][0]
    return _ran(report) and not wrong(expected, number, report, returned_by(answer), entire=True)


def _kernels(report: dict[str, Any]) -> set[str]:
    return {launch["kernel"] for launch in report["launches"]}


def _programs(report: dict[str, Any]) -> int:
    return sum(math.prod(launch["grid"]) for launch in report["launches"])


def _untold(report: dict[str, Any], found: Findings, thorough: bool) -> bool:
    """Whether all programs ought to run, and can."""
    kernels = [launch["kernel"] for launch in report["launches"]]
    others = kernels != [s["kernel"] for s in found.signatures]
    programs = _programs(report)
    more = programs > PROGRAMS or not _partly(report)  # of atomics nothing is told until all have run
    return _ran(report) and (thorough or (others and len(kernels) > 1)) and more and programs <= ENTIRE


def _estimated(answer: Answer) -> float:
    """Seconds of CPU that all programs of a trial take, if the others take as long as those that ran."""
    report = answer.value["trials"][0]
    return answer.cpu * _programs(report) / max(1, int(report["programs"]))


def _cost(expected: Expected, number: int, answer: Answer, run: Run, most: float) -> float:
    """Seconds of CPU that all programs of a trial take; what a call takes without them shows beside a larger sample."""
    estimated, report = _estimated(answer), answer.value["trials"][0]
    dear = (answer.cpu - BUSY) / max(1, int(report["programs"])) * _programs(report) > most
    if estimated <= most or dear or most <= PATIENCE / TRIED or (few := _ran_again(expected, number, run, FEW)) is None:
        return estimated
    least = (few.cpu - BUSY) / FEW * _programs(few.value["trials"][0])
    size = MANY if few.cpu <= IDLE else max(2 * FEW, min(MANY, int(FEW * most / TRIED / few.cpu)))
    if least > most or (many := _ran_again(expected, number, run, size)) is None:
        return max(least, estimated)
    ran = [int(one.value["trials"][0]["programs"]) for one in (few, many)]
    each = max(0.0, many.cpu - few.cpu) / max(1, ran[1] - ran[0])
    return few.cpu + each * _programs(many.value["trials"][0])


def _entirely(
    expected: Expected, number: int, run: Run, before: int | None = None
) -> tuple[str | None, float]:  # fmt: skip
    """What is wrong with the whole answer, "" where it is right, None where it cannot be had; seconds of CPU it took.

    ``before``: a trial that is called first.
    """
    try:
        answer = run(expected, [number] if before is None else [before, number], 0)
    except JobError:
        return None, 0.0
    if "failed" in answer.value:
        raise RejectedError(*answer.value["failed"])
    return wrong(expected, number, answer.value["trials"][-1], returned_by(answer), entire=True), answer.cpu


def returned_by(answer: Answer) -> Tensors:
    """The tensors of its trials."""
    return Tensors(answer.value["manifest"], answer.files[RETURNED])


def _genuine(report: dict[str, Any]) -> None:
    if report["outcome"] != "ok":
        if report["outcome"] == "memory" or len(report["launches"]) > 1:
            return  # what a launch left unfinished may be what it stumbles over
        raise RejectedError(reasons.WRONG_LARGE, f"at the task's own sizes: {report['detail']}")
    if report["aten"]:
        raise RejectedError(reasons.ATEN, f"at the task's own sizes: {', '.join(report['aten'])}")
    if not report["launches"]:
        raise RejectedError(reasons.NOT_LAUNCHED, "at the task's own sizes")


def _ran(report: dict[str, Any]) -> bool:
    return report["outcome"] == "ok" and not report["aten"]


def _partly(report: dict[str, Any]) -> bool:
    """Whether what some of its programs wrote is what all of them leave there."""
    return _ran(report) and "written" in report and any(report["told"])


def wrong(
    expected: Expected, number: int, report: dict[str, Any], returned: Tensors, entire: bool = False
) -> str:  # fmt: skip
    """What of an answer is far from the reference's: of all of it, or of what some of its programs wrote."""
    if not (_ran(report) if entire else _partly(report)):
        return ""
    trial, ours = expected.trials[number], expected.kept
    kept = trial["kept"]
    masks = dict(leaves(report["outputs" if entire else "written"]))
    noisy = [dict(leaves(node)) for node, _ in kept["noisy"]]
    try:
        for path, eager, answer in structure(kept["eager"], ours, report["outputs"], returned):
            if "tensor" not in eager or "tensor" not in masks[path]:
                continue
            mask = ... if entire else returned.array(masks[path]["tensor"]) != 0
            dtype = ours.entry(eager["tensor"])["dtype"]
            got, wanted = returned.array(answer["tensor"])[mask], ours.array(eager["tensor"])[mask]
            both = span_of(kept, path, dtype, ours)
            ends = (both[0][mask], both[1][mask]) if both else None
            if dtype.startswith(EXACT):
                chosen = chosen_of(kept, path, ours)
                exactly(path, got, wanted, None, ends, chosen and (chosen[0][mask], chosen[1]))
                continue
            moved = [ours.array(node["tensor"])[mask] for noise in noisy if "tensor" in (node := noise.get(path, {}))]
            measured = errors(path, got, wanted, None, moved, dtype, nature(trial), ends)
            if measured.excess > GROSS:
                return f"{path}: error {measured.max_abs:.3g}, {measured.excess:.3g} times what is allowed"
    except UnequalError as unequal:
        return unequal.detail
    return ""
