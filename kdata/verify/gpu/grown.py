"""A candidate on a GPU at twice its task's own sizes: grids, loops and tables may have been made for these alone.

Where the reference bears it, at one more than that: what a candidate counts from one call to the next then fits the
grid no better than by chance, while of twice a size every count for that size is a multiple or a half.

The trusted side. Who refuses what is larger is no less honest for it; who answers it wrongly is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kdata.record import Task
from kdata.task import resize
from kdata.verify import reasons
from kdata.verify.evidence.findings import Findings, RejectedError
from kdata.verify.gpu.full import Full, Open, UnmeasuredError

CHECK = "holds at twice its own sizes, or refuses them"
WHERE = "at twice its own sizes"
REFUSALS = 2  # after which it is not asked again: who bears no odd size may bear an even one
MOST_BYTES, MOST_FLOPS = 4 << 30, 2e13  # of a forward there: whole seconds of a GPU, where all axes are doubled


def look(task: Task, grows: Mapping[str, int], own: Full, open_at: Open, found: Findings) -> None:
    """One draw, compared whole. ``own``: at the task's own sizes, which says what a forward costs.

    Raises:
        RejectedError: it is wrong there.
    """
    why, refused = "no dimension may vary", list[str]()
    for values in _sizes(grows, own):
        larger = replace(task, source=resize(task.source, values))
        try:
            with open_at(larger, WHERE) as full:
                full.check(draws=1)
        except UnmeasuredError as unmeasured:
            why = str(unmeasured)
            continue
        except RejectedError as rejection:
            if reasons.refuses(rejection.reason, rejection.detail):
                refused.append(rejection.detail)
                if len(refused) == REFUSALS:
                    break
                continue
            reason = reasons.WRONG_LARGE if rejection.reason == reasons.WRONG else rejection.reason
            raise RejectedError(reason, rejection.detail) from rejection
        found.check(CHECK, True, full.trials[-1].shapes)
        return
    found.check(CHECK, bool(refused), f"refused: {refused[0]}"[:300] if refused else f"not seen: {why}"[:300])


def _sizes(grows: Mapping[str, int], own: Full) -> Iterator[dict[str, int]]:
    """Values to try, best first."""
    for names in _axes(grows, own):
        for more in (1, 0):
            yield {name: 2 * grows[name] + more for name in names}


def _axes(grows: Mapping[str, int], own: Full) -> Iterator[list[str]]:
    """The sizes that are doubled together: all, if that costs little, or else those that are as large as the first."""
    values = list(dict.fromkeys(grows.values()))
    factor = 2 ** len(values)
    moved = own.admitted["read"] + own.admitted["written"]
    if len(values) > 1 and factor * moved <= MOST_BYTES and factor * own.admitted["flops"] <= MOST_FLOPS:
        yield [*grows]
    for value in values[:1]:
        yield [name for name, size in grows.items() if size == value]
