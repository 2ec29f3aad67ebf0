"""What native code in a job can read of others: nothing, on every rung of the isolation ladder that can see to it.

The rungs below this system's own are made by taking guards away, see ``sandbox_rungs``.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kdata.sandbox.guard import Limits
from kdata.sandbox.worker import ROOT, Answer, Worker

TESTS = str(ROOT / "tests")
PATH = {"PYTHONPATH": f"{ROOT}{os.pathsep}{TESTS}"}
SECRET = "the golden output of another job"
FULL = "sandbox_jobs"
RUNGS = {
    FULL: {"namespaces", "landlock", "seccomp"},
    "sandbox_rungs:without_namespaces": {"landlock", "seccomp"},
    "sandbox_rungs:with_landlock_only": {"landlock"},
    "sandbox_rungs:without_landlock": {"namespaces", "seccomp"},
    "sandbox_rungs:with_namespaces_only": {"namespaces"},
    "sandbox_rungs:bare": set[str](),
}
TAKEN = {"namespaces", "landlock", "seccomp"}


@contextmanager
def victim(rung: str) -> Iterator[dict[str, Any]]:
    """Another worker's running job with a secret in its scratch folder, its processes, and the judge's own memory."""
    held = ctypes.create_string_buffer(SECRET.encode())
    with Worker((rung,), PATH | {"KEPT": SECRET}) as worker:
        place: list[Path] = []
        job = ("sandbox_jobs:keep", SECRET, Limits(wall=60))
        thread = threading.Thread(target=worker.call, args=job, kwargs={"prepare": place.append})
        thread.start()
        ends = time.monotonic() + 20
        while not (place and (place[0] / "kept.bin").exists()) and time.monotonic() < ends:
            time.sleep(0.02)
        assert worker._process is not None
        yield {"secret": SECRET, "files": [str(place[0] / "kept.bin")], "folders": [str(place[0].parent)],
               "pids": [os.getpid(), *lineage(worker._process.pid)], "address": ctypes.addressof(held)}  # fmt: skip
        (place[0] / "end").touch()
        thread.join()


def lineage(pid: int) -> list[int]:
    """A process and all that descend from it."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(inner for child in children for inner in lineage(int(child)))]


def pry(rung: str) -> Answer:
    with victim(rung) as holder, Worker((rung,), PATH) as worker:
        return worker.call("sandbox_jobs:pry", holder, Limits(wall=60, cpu=60))


@pytest.fixture(scope="module")
def full() -> Answer:
    """What this system's own rung gives."""
    return pry(FULL)


@pytest.mark.parametrize("rung", RUNGS)
def test_nothing_of_others_can_be_read(rung: str, full: Answer) -> None:
    """Without Landlock files can be, without it and namespaces a plain user's judge can: receipts say what holds."""
    answer = full if rung == FULL else pry(rung)
    assert set(answer.guards) & TAKEN == RUNGS[rung] & set(full.guards)
    assert "rlimits" in answer.guards
    files = [place for place in answer.value if not place[0].isdigit()]
    processes = [place for place in answer.value if place[0].isdigit()]
    if "landlock" in answer.guards:
        assert files == []
    if {"landlock", "namespaces"} & set(answer.guards) or os.geteuid() == 0:
        assert processes == []


def test_the_secret_is_there_to_be_read() -> None:
    """Without a sandbox the same code finds it: the tests above can fail."""
    code = (
        "import json, pathlib, sys, tempfile, sandbox_jobs\n"
        "print(json.dumps(sandbox_jobs.pry(json.loads(sys.argv[1]), pathlib.Path(tempfile.mkdtemp()))))\n"
    )
    with victim(FULL) as holder:
        done = subprocess.run([sys.executable, "-c", code, json.dumps(holder)], env=os.environ | PATH, text=True,
                              capture_output=True, check=True)  # fmt: skip
    found = json.loads(done.stdout)
    assert f"open: {holder['files'][0]}" in found
    assert os.geteuid() != 0 or f"{os.getpid()}: memory" in found


@pytest.mark.parametrize("rung", [FULL, "sandbox_rungs:without_namespaces"])
def test_no_sockets_and_no_namespaces(rung: str) -> None:
    with Worker((rung, "sandbox_jobs"), PATH) as worker:
        answer = worker.call("sandbox_jobs:network", None, Limits(wall=20))
    if "seccomp" not in answer.guards:
        pytest.skip("this system has no seccomp")
    assert answer.value == []
