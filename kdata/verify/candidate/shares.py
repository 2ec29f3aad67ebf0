"""What each of several trials may take where some programs of each run: a slow one is not to cost the others theirs.

In the host's child.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from kdata.verify.exchange.scratch import LATE
from kdata.verify.interpreter import sampling

PART = 0.75  # of what the process may take: it starts, and hands back what was found
Report = dict[str, Any]


def begin(payload: dict[str, Any], left: int) -> None:
    """Let the next of so many trials that are ``left`` have its share of the time, if it runs some programs only."""
    if not (programs := payload.get("programs", 0)):
        sampling.sample(0)
        return
    now = time.monotonic()
    end = payload.setdefault("began", now) + PART * payload["seconds"]
    until = now + max(0.0, end - now) / left
    sampling.sample(programs, payload.get("named", ()), until)


def once_more(
    payload: dict[str, Any], reports: list[Report], turn: Callable[[int], None], call: Callable[[Any], Report]
) -> None:  # fmt: skip
    """Call again what ended no program in its share, in what others have left of theirs, in its tuner's turn."""
    slow = [number for number, report in enumerate(reports) if report["outcome"] == LATE]
    for place, number in enumerate(slow):
        begin(payload, len(slow) - place)
        turn(number)
        before, begun = reports[number], time.process_time()
        reports[number] = call(payload["trials"][number] | {"again": False})
        reports[number]["seconds"] = before["seconds"] + time.process_time() - begun
