"""The sandbox survives what hostile code does, says what happened, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kdata.sandbox import pool
from kdata.sandbox.guard import Limits
from kdata.sandbox.worker import ROOT, Answer, JobError, Worker

TESTS = str(ROOT / "tests")
PATH = {"PYTHONPATH": f"{ROOT}{os.pathsep}{TESTS}"}
SHORT = Limits(wall=2, cpu=2, memory=256 << 20, file_size=16 << 20, answer=1 << 20)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker(("sandbox_jobs",), PATH) as made:
        yield made


def call(worker: Worker, job: str, payload: object = None, limits: Limits = SHORT) -> Answer:
    return worker.call(f"sandbox_jobs:{job}", payload, limits)


def failure(worker: Worker, job: str, payload: object = None) -> JobError:
    with pytest.raises(JobError) as caught:
        call(worker, job, payload)
    assert call(worker, "add", [1, 2]).value == 3, "the worker does not serve the next job"
    return caught.value


def test_answer(worker: Worker) -> None:
    answer = call(worker, "add", ["a", "b"])
    assert answer.value == "ab"
    assert "rlimits" in answer.guards


def test_an_answer_tells_how_much_was_in_memory(worker: Worker) -> None:
    little, much = (call(worker, "eat", size).memory for size in (1 << 10, 64 << 20))
    assert little < 64 << 20 <= much < 2 * SHORT.memory


def test_a_large_job_is_there_once_and_gone_before_the_next() -> None:
    with Worker(
        ("sandbox_jobs",), PATH | {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
    ) as made:
        before = call(made, "add", [1, 2]).memory
        during = made.call("sandbox_jobs:count", "x" * (64 << 20), Limits(wall=20, cpu=20)).memory
        after = call(made, "add", [1, 2]).memory
    assert during - before < 96 << 20
    assert after - before < 16 << 20


@pytest.mark.parametrize(
    ("job", "payload", "reason"),
    [
        ("hang", None, "timeout"),
        ("spin", None, "timeout"),
        ("leave", 3, "crash"),
        ("leave", 0, "no answer"),
        ("segfault", None, "crash"),
        ("eat", 1 << 30, "memory"),
        ("long_answer", 2 << 20, "answer too large"),
        ("link", None, "no answer"),
        ("forge", None, "no answer"),
        ("add", ["a", 1], "exception"),
    ],
)
def test_failures_have_reasons(worker: Worker, job: str, payload: object, reason: str) -> None:
    assert failure(worker, job, payload).reason == reason


def test_big_files_end_the_job(worker: Worker) -> None:
    error = failure(worker, "fill_disk", 64)
    assert error.reason in ("exception", "crash")


def test_printing_megabytes_disturbs_nothing(worker: Worker, capfd: pytest.CaptureFixture[str]) -> None:
    assert call(worker, "chatter", 8 << 20).value == "said"
    assert capfd.readouterr() == ("", "")


def test_what_a_job_forks_ends_with_it(worker: Worker, tmp_path: Path) -> None:
    answer = call(worker, "fork", "late")  # relative: in the scratch folder, where writing is allowed
    assert answer.value == "forked"
    if "namespaces" not in answer.guards:
        pytest.skip("this system gives no PID namespaces")
    scratch = worker._scratch
    time.sleep(1.2)
    assert not list(scratch.rglob("late"))
    assert not list(scratch.iterdir())


def test_files_outside_are_safe(worker: Worker, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    answer = call(worker, "destroy", str(victim))
    if "landlock" not in answer.guards:
        pytest.skip("this system has no Landlock")
    assert answer.value == ["own"]
    assert [p.name for p in tmp_path.iterdir()] == ["victim"]
    assert victim.read_text() == "precious"


def test_no_network(worker: Worker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        if "namespaces" not in call(worker, "add", [1, 1]).guards:
            pytest.skip("this system gives no network namespaces")
        assert failure(worker, "connect", server.getsockname()[1]).reason == "exception"


def test_environment_holds_no_secrets(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    with Worker(("sandbox_jobs",), PATH) as fresh:
        assert "secret" not in call(fresh, "environment").value.values()


def test_a_dead_zygote_is_replaced(worker: Worker) -> None:
    assert worker._process is not None
    before = worker._process.pid
    worker._process.kill()
    worker._process.wait()
    assert call(worker, "add", [1, 2]).value == 3
    assert worker._process.pid != before


def test_a_job_cannot_see_the_zygote(worker: Worker) -> None:
    assert worker._process is not None
    if "namespaces" not in call(worker, "add", [1, 1]).guards:
        pytest.skip("this system gives no PID namespaces")
    assert failure(worker, "kill_zygote", worker._process.pid).kind == "ProcessLookupError"


def test_a_worker_outlives_the_thread_that_started_it() -> None:
    with Worker(("sandbox_jobs",), PATH) as own:
        thread = threading.Thread(target=call, args=(own, "add", [1, 2]))
        thread.start()
        thread.join()
        time.sleep(0.2)
        assert own._process is not None
        assert own._process.poll() is None
        assert call(own, "add", [3, 4]).value == 7


def test_pool_keeps_workers_warm() -> None:
    with pool.lease("sandbox_jobs", **PATH) as first:
        call(first, "add", [1, 2])
    with pool.lease("sandbox_jobs", **PATH) as second:
        assert second is first
        with pool.lease("sandbox_jobs", **PATH) as third:
            assert third is not first
    pool.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_survives_the_parent(how: signal.Signals, tmp_path: Path) -> None:
    """A parent killed in the middle of a job takes its zygote, the job and the scratch folder along."""
    code = (
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a background job inherits it ignored
        "from kdata.sandbox.guard import Limits\n"
        "from kdata.sandbox.worker import Worker\n"
        f"worker = Worker(('sandbox_jobs',), {PATH!r})\n"
        "worker.call('sandbox_jobs:add', [1, 1])\n"
        "print(worker._process.pid, worker._scratch, flush=True)\n"
        "worker.call('sandbox_jobs:hang', None, Limits(wall=60))\n"
    )
    environment = {**os.environ, **PATH}
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env=environment, start_new_session=True)  # fmt: skip
    assert parent.stdout is not None
    zygote, scratch = parent.stdout.readline().split()
    time.sleep(0.3)
    os.killpg(parent.pid, how)
    parent.wait(10)
    ends = time.monotonic() + 10
    while (Path(scratch).exists() or Path(f"/proc/{zygote}").exists()) and time.monotonic() < ends:
        time.sleep(0.05)
    assert not Path(scratch).exists()
    assert not Path(f"/proc/{zygote}").exists()
    parent.stdout.close()
