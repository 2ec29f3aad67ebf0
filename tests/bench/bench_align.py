"""Modules aligned per second on one core, warm, on the tasks of ``tests/kernels``; beside them Inductor alone.

Inductor alone is the peer: the same export and lowering without our sizes, names and launchers, which nobody would
want to read.  The ratio says what readable and general costs.

python tests/bench/bench_align.py
"""

from __future__ import annotations

import time
from pathlib import Path

from kdata.align.step import ENVIRONMENT, PRELOAD
from kdata.sandbox.guard import Limits
from kdata.sandbox.pool import lease
from kdata.task import INIT_INPUTS, find_entry_point
from kdata.verify.candidate.source import task_part

TASKS = sorted((Path(__file__).parents[1] / "kernels").glob("good_*.py"))


def main() -> None:
    """Print one line a task and the rates, in CPU seconds of the worker's child."""
    ours = peer = 0.0
    aligned = 0
    with lease(PRELOAD, **ENVIRONMENT) as worker:
        for file in TASKS:
            source = _reference(file.read_text())
            payload = {"source": source, "entry_point": find_entry_point(source)}
            answer = worker.call("kdata.align.job:align", payload, Limits()).value
            if "text" not in answer:
                print(f"{file.stem:28} {answer['reason']}")
                continue
            stages: dict[str, float] = worker.call("kdata.align.job:stages", payload, Limits()).value
            aligned += 1
            ours += sum(stages.values())
            peer += stages["lower"]
            print(f"{file.stem:28} aligned  "
                  + "  ".join(f"{name} {seconds:5.2f} s" for name, seconds in stages.items()))  # fmt: skip
    print(f"\naligned: {aligned} of {len(TASKS)}; a second and core, warm: {aligned / ours:.2f} (target 3)")
    print(f"Inductor's lowering alone: {aligned / peer:.2f} a second; ratio {ours / peer:.2f}")


def _reference(text: str) -> str:
    """The task part of a kernel file."""
    return task_part(text) if INIT_INPUTS in text else text


if __name__ == "__main__":
    started = time.monotonic()
    main()
    print(f"{time.monotonic() - started:.1f} s in all")
