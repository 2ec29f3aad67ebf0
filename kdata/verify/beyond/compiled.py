"""A candidate that is compiled, not interpreted, at sizes beyond those of its task: run whole, where its trials ran.

The trusted side. An answer that is wrong is told from one that is refused: grids end at 65535 blocks in two of their
dimensions, and shared memory somewhere, too (CUDA C++ Programming Guide, compute capabilities); who says so there is
no less honest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kdata.record import Candidate
from kdata.sandbox.worker import JobError
from kdata.verify import reasons
from kdata.verify.beyond import whole
from kdata.verify.beyond.beyond import expect
from kdata.verify.beyond.ends import Ends, asked
from kdata.verify.beyond.whole import Run
from kdata.verify.constants import SHORT
from kdata.verify.cuda.text import integers_named
from kdata.verify.evidence.compare import Tensors
from kdata.verify.evidence.findings import Findings, RejectedError
from kdata.verify.evidence.trial import Expected
from kdata.verify.options import Options

CHECK = "holds beyond its task's sizes, or refuses them"


def look(candidate: Candidate, expected: Expected, options: Options, run: Run, found: Findings) -> None:
    """Where a dimension is beyond 16 bits, or beyond numbers that the C++ names.

    Raises:
        RejectedError: it is wrong there.
    """
    if not expected.grows:
        return
    task, ends = candidate.task, Ends(sizes=(*asked([*integers_named(candidate.source)]), SHORT))
    try:
        larger = expect(task.source, task.entry_point, options, expected.mode, tuple(expected.base.items()),
                        tuple(expected.grows.items()), (), ends, ((), ()), (), False)  # fmt: skip
        refused = _judge(larger, range(len(larger.trials)), run) if larger.trials else []
    except JobError as error:
        found.check(CHECK, False, f"not seen: {error}"[:300])
        return
    found.check(CHECK, True, "; ".join(refused)[:300])


def _judge(larger: Expected, numbers: Sequence[int], run: Run) -> list[str]:
    """Where it refused, and what it said.

    Raises:
        RejectedError: an answer is wrong, or none of its own.
        JobError: its process gave no answer.
    """
    answer = run(larger, numbers, 0)
    if "failed" in answer.value:
        raise RejectedError(*answer.value["failed"])
    refused, returned = dict[str, None](), whole.returned_by(answer)
    for number, report in zip(numbers, answer.value["trials"], strict=True):
        sizes = larger.variants[larger.trials[number]["variant"]]["sizes"]
        if reasons.refuses(report["outcome"], report["detail"]):
            refused[f"refused at {sizes}: {report['detail']}"] = None
        elif detail := _wrong(larger, number, report, returned):
            raise RejectedError(reasons.WRONG_LARGE, f"at {sizes}: {detail}"[:300])
    return list(refused)


def _wrong(larger: Expected, number: int, report: dict[str, Any], returned: Tensors) -> str:
    if report["outcome"] != "ok":
        return str(report["detail"] or report["outcome"])
    if report["aten"]:
        return f"torch computes there: {', '.join(map(str, report['aten']))}"
    return whole.wrong(larger, number, report, returned, entire=True)
