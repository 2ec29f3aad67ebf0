"""A candidate at the task's own sizes, where these are too large to be computed: does it there what it was judged at?

The trusted side. Its wrapper runs on tensors without memory (``candidate.unfilled``) and no kernel does, so that it
shows what would be launched.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kdata.sandbox.worker import Answer, JobError
from kdata.verify import reasons
from kdata.verify.evidence.compare import Tensors, UnequalError, structure
from kdata.verify.evidence.findings import Findings, Launch, RejectedError
from kdata.verify.evidence.trial import Expected

CHECK, AT = "does at its own sizes what it was judged at", "at the task's own sizes"


def look(expected: Expected, run: Callable[[], Answer], found: Findings) -> str:
    """What it does there that it did at no size at which it was judged; "" for nothing, or where that cannot be told.

    Raises:
        RejectedError: torch does the work there, or what it returns is another thing.
    """
    try:
        answer = run()
    except JobError as error:
        found.check(CHECK, False, f"not seen: {error}"[:300])
        return ""
    if "failed" in answer.value:
        raise RejectedError(*answer.value["failed"])
    report = answer.value["trials"][0]
    if report["outcome"] == "out of bounds":
        raise RejectedError(reasons.OUT_OF_BOUNDS, f"{AT}: {report['detail']}")
    if failed := demand_same(expected.own, report, AT):
        found.check(CHECK, False, f"not seen: {failed}"[:300])
        return ""
    found.own += report["launches"]
    other = unseen([*found.launched, *found.lowered], report["launches"])
    found.check(CHECK, not other, other)
    return other


def demand_same(outline: dict[str, Any], report: dict[str, Any], where: str) -> str:
    """Own kernels are launched for what the reference returns there; why that was not seen, "" where it was.

    Raises:
        RejectedError: they are not.
    """
    if report["aten"]:
        raise RejectedError(reasons.ATEN, f"{where}: {', '.join(report['aten'])}")
    if report["outcome"] != "ok":
        return str(report["detail"])
    if not report["launches"]:
        raise RejectedError(reasons.NOT_LAUNCHED, where)
    try:
        theirs = Tensors(report["outline"], b"")
        structure(outline["outputs"], Tensors(outline["manifest"], b""), report["outputs"], theirs)
    except UnequalError as unequal:
        raise RejectedError(reasons.WRONG_LARGE, f"{where}: {unequal.detail}") from unequal
    return ""


def unseen(judged: Iterable[Launch], launches: Iterable[Launch], floats: bool = False) -> str:
    """The first kernel, or choice of one, that is among the launches and not among the judged ones; "" for none.

    ``floats``: a number with a fraction that was the same wherever it was judged is such a choice, too.
    """
    known: dict[tuple[str, str], set[str]] = defaultdict(set)
    for kernel, name, choice in _choices(judged):
        known[kernel, name].add(choice)
    for kernel, name, choice in _choices(launches):
        seen = known.get((kernel, name))
        if seen is None:
            return f"it launches {kernel}" + (f" with {name}" if name else "")
        if choice not in seen and (
            not _counts(choice) or all(map(_flag, seen | {choice})) or (floats and _steady(seen))
        ):
            return f"it launches {kernel} with {name}={choice}"
    return ""


def _choices(launches: Iterable[Launch]) -> Iterator[tuple[str, str, str]]:
    """Kernels, their parameters, and what numbers and constants these were given."""
    for launch in launches:
        yield launch["kernel"], "", ""
        for name, given in launch["arguments"].items():
            if "value" in given or "constant" in given:
                yield launch["kernel"], name, json.dumps(given.get("value", given.get("constant")))


def _counts(choice: str) -> bool:
    """Whether it is a number, which follows from sizes as often as not."""
    return type(json.loads(choice)) in (int, float)


def _steady(seen: set[str]) -> bool:
    """Whether it is one number with a fraction."""
    return len(seen) == 1 and all(type(json.loads(choice)) is float for choice in seen)


def _flag(choice: str) -> bool:
    return choice in ("0", "1")
