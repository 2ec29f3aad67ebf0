"""A verb that runs long tells how far it is, and ends at once on Ctrl-C with what is finished kept."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys, time
from collections.abc import Iterator, Sequence
from kdata.record import Origin, Task
from kdata.step import Step
from kdata.verbs import run

def slowly(tasks: Sequence[Task]) -> Iterator[Task]:
    for task in tasks:
        if task.entry_point == sys.argv[2]:
            print("waiting", flush=True)
            time.sleep(60)
        yield task

tasks = [Task.make(f"class T{i}: pass", f"T{i}", Origin("local", "here", "", f"{i}.py")) for i in range(4)]
made = run(Step("slowly", "1", Task, Task, slowly), tasks, sys.argv[1], 2, 1)
print(sum(m.kept for m in made), "kept")
"""


def run(folder: Path, environment: dict[str, str], stop_at: str) -> tuple[int, str, str]:
    command = [sys.executable, "-c", PROGRAM, str(folder), stop_at]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    first = process.stdout.readline()
    if first.startswith("waiting"):
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    return process.returncode, first + out, err


def test_stopped_and_gone_on(tmp_path: Path, environment: dict[str, str]) -> None:
    code, _, told = run(tmp_path, environment, "T3")
    assert code == 130
    assert told.index("slowly 0/4 (0 kept)") < told.index("slowly 1/4 (1 kept)")
    assert "goes on from the last finished shard" in told
    code, said, told = run(tmp_path, environment, "none")
    assert (code, said) == (0, "4 kept\n")
    assert "slowly 1/2 (1 kept)" in told, "the shard that was finished is not counted again"
