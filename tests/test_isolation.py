"""``--require-isolation``: with the guards that it names all is as ever; without one of them no job's code runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import pytest

from flows import stages
from flows.build_options import BuildOptions
from kdata.record import Candidate, Dropped, Origin, Task
from kdata.sandbox import isolation, pool
from kdata.sandbox.guard import Limits
from kdata.sandbox.isolation import IsolationError
from kdata.sandbox.session import Session
from kdata.sandbox.worker import ROOT, JobError, Worker
from kdata.verify import step

TESTS = ROOT / "tests"
PATH = {"PYTHONPATH": f"{ROOT}{os.pathsep}{TESTS}"}
Run = Callable[..., subprocess.CompletedProcess[str]]
TASK = """import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1.0


def get_inputs():
    return [torch.rand(4, 33)]


def get_init_inputs():
    return []
"""
NO_KERNEL = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
# Iterators in iterators overflow the stack of the interpreter itself.
CRASH = NO_KERNEL.replace("return x", "n = iter([x])\n        for _ in range(10**6):\n            n = map(abs, n)\n"
                                      "        return next(n)")  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_required() -> Iterator[None]:
    yield
    isolation.require(())


@pytest.fixture(scope="module")
def held() -> tuple[str, ...]:
    """What this system gives."""
    with Worker((), PATH) as worker:
        return worker.call("sandbox_jobs:add", [1, 1]).guards


@pytest.mark.parametrize(
    ("text", "guards"),
    [
        (None, ()),
        ("landlock", ("landlock",)),
        ("seccomp+namespaces+seccomp", ("namespaces", "seccomp")),
        (" Landlock + no-capabilities", ("landlock", "no capabilities")),
        ("full", tuple(isolation.GUARDS)),
        ("namespaces+landlock+no capabilities+seccomp+rlimits", tuple(isolation.GUARDS)),
    ],
)
def test_names(text: str | None, guards: tuple[str, ...]) -> None:
    assert isolation.parse(text) == guards


@pytest.mark.parametrize("text", ["", "landlok", "landlock+", "landlock,seccomp"])
def test_what_is_no_guard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="the guards are namespaces, landlock, no capabilities, seccomp, rlimits"):
        isolation.parse(text)


def test_every_guard_has_its_remedy(held: tuple[str, ...]) -> None:
    """A guard that the sandbox gains must be one that can be required."""
    assert set(held) <= isolation.GUARDS.keys()
    assert "rlimits" in held


def test_guards_that_hold_change_nothing(held: tuple[str, ...]) -> None:
    pool.demand("+".join(held))
    with Worker((), PATH) as worker:
        assert worker.call("sandbox_jobs:add", [1, 1]).value == 2
        with pytest.raises(JobError, match="exit status 3") as caught:
            worker.call("sandbox_jobs:leave", 3)
        assert caught.value.guards == held


@pytest.mark.parametrize("guard", ["namespaces", "landlock", "seccomp"])
def test_without_a_guard_no_code_runs(guard: str) -> None:
    notes: list[TextIO] = []

    def keep(folder: Path) -> None:
        """Hold on to a file that the job would write, past the end of its folder."""
        notes.append((folder / "note").open("w+"))

    with Worker((f"sandbox_rungs:without_{guard}",), PATH) as worker:
        isolation.require((guard,))
        with pytest.raises(IsolationError, match=f"{guard} missing, .*rlimits there .for {guard}: "):
            worker.call("sandbox_jobs:note", None, prepare=keep)
        isolation.require(("rlimits",))
        worker.call("sandbox_jobs:note", None, prepare=keep)
    assert [note.read() for note in notes] == ["", "it ran"]
    for note in notes:
        note.close()


def test_a_session_says_so_too() -> None:
    isolation.require(("landlock",))
    with Worker(("sandbox_rungs:without_landlock",), PATH) as worker:
        with Session(worker, "session_jobs:double", None, Limits(wall=10)) as session, pytest.raises(IsolationError):
            session.ask({"number": 1}, 5.0)


def test_no_receipt_below(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the probe passed by other means, the first candidate of a shard still ends it, without a verdict."""
    monkeypatch.setattr(isolation, "_required", ("namespaces", "a guard of tomorrow"))
    monkeypatch.setitem(isolation.GUARDS, "a guard of tomorrow", "wait")
    task = Task.make(TASK, "Model", Origin("local", "here", "", "relu.py"))
    candidate = Candidate.make(task, NO_KERNEL, "triton", "test")
    with pytest.raises(IsolationError, match="a guard of tomorrow missing"):
        list(step.step(()).function([candidate]))


def test_whose_process_fails_has_its_isolation_in_its_receipt(held: tuple[str, ...]) -> None:
    task = Task.make(TASK, "Model", Origin("local", "here", "", "relu.py"))
    candidate = Candidate.make(task, CRASH, "triton", "test")
    (dropped,) = step.step(()).function([candidate])
    assert isinstance(dropped, Dropped) and dropped.pair is not None
    assert (dropped.reason, dropped.detail) == ("crash", "crash: signal 11")
    assert dropped.pair.receipt.isolation == "+".join(held)


def test_verdicts_from_behind_less_are_not_taken_for_others() -> None:
    before = step.step(()).output(["shard"])
    isolation.require(("landlock",))
    required = step.step(())
    assert required.output(["shard"]) != before
    assert required.parameters["isolation"] == ["landlock"]
    isolation.require(())
    assert step.step(()).output(["shard"]) == before


def test_a_build_s_jobs_require_it_wherever_they_run(tmp_path: Path) -> None:
    options = BuildOptions(sources=[str(tmp_path)], out=str(tmp_path / "out"), require_isolation="landlock+rlimits")
    stages.work(options, stages.Job(stages.FILTER, str(tmp_path)))
    assert isolation.required() == ("landlock", "rlimits")
    stages.work(options.model_copy(update={"require_isolation": None}), stages.Job(stages.FILTER, str(tmp_path)))
    assert isolation.required() == ()


@pytest.fixture
def kdata(kdata_command: list[str], environment: dict[str, str], tmp_path: Path) -> Run:
    (tmp_path / "relu.py").write_text(TASK)
    (tmp_path / "kernel.py").write_text(NO_KERNEL)

    def run(lacking: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        before = [sys.executable, str(TESTS / "lacking.py"), lacking] if lacking else []
        return subprocess.run([*before, *kdata_command, *arguments], env=environment, cwd=tmp_path,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)  # fmt: skip

    return run


ONE = ("verify", "--task", "relu.py", "--kernel", "kernel.py", "--targets", "", "--device", "cpu", "--json")


@pytest.mark.parametrize("lacking", ["landlock", "namespaces"])
def test_a_system_without_it_ends_the_command(kdata: Run, held: tuple[str, ...], lacking: str) -> None:
    """The guard is really absent: the kernel refuses the call that it needs."""
    there = ", ".join(guard for guard in held if guard != lacking)
    for status, call in {2: ONE, 1: ("verify", ".", "--out", "out")}.items():
        done = kdata(lacking, *call, "--require-isolation", f"rlimits+{lacking}")
        assert (done.returncode, done.stdout) == (status, "")
        (line,) = done.stderr.splitlines()
        assert f"{lacking} missing, {there} there (for {lacking}: " in line


def test_a_build_ends_before_it_fetches_anything(kdata: Run, tmp_path: Path) -> None:
    done = kdata("landlock", "build", "--sources", ".", "--out", "out", "--require-isolation", "landlock")
    assert done.returncode == 1
    assert "landlock missing" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_system_with_it_gives_verdicts(kdata: Run, held: tuple[str, ...]) -> None:
    done = kdata("", *ONE, "--require-isolation", "+".join(held))
    assert done.returncode == 1, done.stderr  # it has no kernel
    assert json.loads(done.stdout)["verdict"] == "rejected"


def test_unknown_guards_on_the_command_line(kdata: Run) -> None:
    for status, call in {2: ONE, 1: ("build", "--sources", ".")}.items():
        done = kdata("", *call, "--require-isolation", "landlok")
        assert done.returncode == status
        (line,) = done.stderr.splitlines()
        assert "unknown guard 'landlok'" in line
