"""A candidate at sizes beyond those at which it was judged: does it there what it did, and is it right?

The trusted side. What calls the kernels runs on tensors without memory (``candidate.unfilled``), however many
elements there are; some programs run where that is not too dear (``beyond.whole``). The sizes are those beyond
numbers that the text names, and a task's own in one dimension each where these were scaled down.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from kdata.record import Candidate
from kdata.sandbox.pool import lease
from kdata.sandbox.worker import Answer, JobError
from kdata.verify import reasons
from kdata.verify.beyond import unseen, whole
from kdata.verify.beyond.ends import Ends, asked, ends, fixed
from kdata.verify.beyond.thresholds import CAP, branches, caps, counted_loops, exactly, reduces_at_once, thresholds
from kdata.verify.beyond.whole import Run
from kdata.verify.candidate.indices import COUNTED_SO
from kdata.verify.candidate.subset import jitted
from kdata.verify.constants import SHORT, name_of
from kdata.verify.evidence.findings import EVALUATES, Findings, Launch, RejectedError
from kdata.verify.evidence.trial import Expected
from kdata.verify.exchange.scratch import GIVEN, KEPT
from kdata.verify.options import LOADED, Options

CHECK = "does beyond the sizes at which it was judged what it did there"
# Elements at which it is looked at, whatever numbers the text names: beyond 16 bits, many, and more than are computed.
FAR = (SHORT, 3 << 20, 1 << 30)
MOST = 1 << 22  # elements up to which sizes are computed
AT_ONCE = (1 << 12, 1 << 14)  # sizes beyond which a kernel that reduces a block may be given one too small
BLOCK = 64  # elements: a block of which nobody takes for a constant
Sizes = tuple[tuple[str, int], ...]


def look(
    candidate: Candidate, expected: Expected, options: Options, outlined: Callable[[list[Any]], Answer],
    run: Run | None, found: Findings,
) -> str:  # fmt: skip
    """What it does there that it did nowhere where it was judged and that cannot be judged; "" for nothing.

    ``run``: None where what runs kernels here cannot run its own.

    Raises:
        RejectedError: torch does the work there, or what it returns is wrong.
    """
    if not expected.grows:
        return ""
    named = tuple(sorted({*thresholds(candidate.source), *thresholds(candidate.task.source)}))
    idle = _idle(candidate.source, found)
    often = options.level == "trust" or idle or branches(candidate.source)
    far = FAR if often and not expected.base else ()
    apart = bool(expected.base) and (
        options.level == "trust" or caps(candidate.source) or _stops_short(candidate.source, expected, found)
    )
    once = AT_ONCE if options.level == "trust" and reduces_at_once(candidate.source) else ()
    stops = ends(candidate.source, found.launched, wrapper=options.level == "trust")
    equal, multiples = exactly(candidate.source)
    exact = equal + once[:1], multiples
    own = asked(expected.asked)
    if not (named or far or apart or stops or once or equal or multiples or own):
        return ""
    numbers = far + once + named[::-1]
    try:
        larger = expect(candidate.task.source, candidate.task.entry_point, options, expected.mode,
                        tuple(expected.base.items()), tuple(expected.grows.items()), numbers, stops, exact, own,
                        _heard(found))  # fmt: skip
    except JobError as error:
        found.check(CHECK, False, f"not seen: the reference's process ended with {error}"[:300])
        return ""
    told = whole.look(larger, run, found, thorough=True) if run else []
    if not larger.outlines:
        return ""
    return _outlines(larger, outlined, [*found.launched, *found.lowered, *told], found, bool(named or idle))


def _heard(found: Findings) -> bool:
    """Whether it was seen to do in evaluation mode what the reference does there and nowhere else."""
    return any(check.name == EVALUATES and check.passed for check in found.checks)


def _idle(text: str, found: Findings) -> bool:
    """Whether it has a kernel that was launched nowhere where it was judged: larger sizes may be what it waits for.

    What kernels call is none: another kernel names it. Where no launch was seen at all nothing is known of any.
    """
    kernels = list(jitted(ast.parse(text)))
    called = {name_of(node.func) for k in kernels for node in ast.walk(k) if isinstance(node, ast.Call)}
    launched = {launch["kernel"] for launch in [*found.launched, *found.lowered]}
    return bool(launched) and not {kernel.name for kernel in kernels} <= called | launched


def _stops_short(text: str, expected: Expected, found: Findings) -> bool:
    """Whether a kernel that reduces at once what a block holds, or loops as often as a constant says, was given one.

    One only wherever it was judged, and less than a size.
    """
    once, loops = reduces_at_once(text), counted_loops(text)
    blocks, counts = set[int](), set[int]()
    for kernel, name, value in fixed(found.launched):
        if kernel in once:
            blocks.add(value)
        if name in loops.get(kernel, ()):
            counts.add(value)
    largest = max(expected.grows.values())
    return any(BLOCK <= b < largest for b in blocks) or any(CAP <= n < largest for n in counts)


def _outlines(
    larger: Expected, outlined: Callable[[list[Any]], Answer], known: Sequence[Launch], found: Findings, told: bool
) -> str:  # fmt: skip
    """What the outlines show; ``told``: whether what is launched at these sizes must be what was judged."""
    try:
        answer = outlined(larger.outlines)
    except JobError as error:
        found.check(CHECK, False, f"not seen: {error}"[:300])
        return ""
    if "failed" in answer.value:
        raise RejectedError(*answer.value["failed"])
    other = missed = ""
    for outline, report in zip(larger.outlines, answer.value["trials"], strict=True):
        if report["outcome"] == COUNTED_SO:
            raise RejectedError(reasons.WRONG_LARGE, f"at {outline['sizes']}: {report['detail']}")
        if failed := unseen.demand_same(outline, report, f"at {outline['sizes']}"):
            missed = missed or f"not seen: {failed}"[:300]
            continue
        other = other or unseen.unseen(known, report["launches"], floats=True)
    found.check(CHECK, not (other or missed), other or missed)
    return other if told else ""


@lru_cache(maxsize=8)
def expect(
    source: str, entry_point: str, options: Options, mode: str, base: Sizes, grows: Sizes, numbers: Sequence[int],
    stops: Ends, exact: tuple[Sequence[int], Sequence[int]], asked: Sequence[int], evaluates: bool,
) -> Expected:  # fmt: skip
    """Run a task's reference at larger sizes.

    Raises:
        JobError: that cannot be done.
    """
    payload: Mapping[str, Any] = {
        "source": source, "entry_point": entry_point, "variants": 1, "seeds": [options.seed + 1], "level": "screen",
        "whole": 0, "precision": options.precision, "mode": mode, "base": dict(base), "grows": dict(grows),
        "numbers": list(numbers), "most": MOST, "ends": list(stops.sizes), "counts": list(stops.elements),
        "equal": list(exact[0]), "multiples": list(exact[1]), "asked": list(asked),
        "evaluates": evaluates,
    }  # fmt: skip
    with lease("torch", "kdata.verify.reference.reference:warm") as worker:
        answer = worker.call(
            "kdata.verify.reference.larger:answer", payload, options.limits(patience=LOADED), fetch=(GIVEN, KEPT)
        )
    if "fault" in answer.value:
        raise JobError("fault", str(answer.value["fault"][1]))
    if answer.files.keys() != {GIVEN, KEPT}:
        raise JobError("no answer", "it left no tensors")
    return Expected(answer.value, answer.files[GIVEN], answer.files[KEPT])
