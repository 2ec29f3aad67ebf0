"""The parent's side of the sandbox: start a zygote, give it jobs, read answers, survive everything."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from kdata.sandbox import isolation
from kdata.sandbox.guard import Limits
from kdata.sandbox.spoken import spoken
from kdata.sandbox.zygote import ANSWER

ROOT = Path(__file__).resolve().parents[2]
# What a child's environment keeps: where programs and libraries are. No token, no home, no proxy.
KEPT = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "VIRTUAL_ENV")
# Packages that install others when they are imported: told at once that there is no network, they do not try again.
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_RETRIES": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "UV_OFFLINE": "1"}
START_SECONDS = 300.0


class JobError(Exception):
    """A job that gave no answer, or whose answer was an exception.

    ``reason`` is one of "timeout", "memory", "crash", "no answer", "answer too large", "exception"; ``kind`` is the
    exception's class where there was one, ``guards`` what held the job, as far as it came.
    """

    guards: tuple[str, ...] = ()

    def __init__(self, reason: str, detail: str, kind: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason, self.detail, self.kind = reason, detail, kind


@dataclass(slots=True)
class Answer:
    """What a job returned, and what it took: seconds of CPU, and bytes that its largest process had in memory."""

    value: Any
    guards: tuple[str, ...]
    cpu: float
    files: dict[str, bytes]
    memory: int = 0


class Worker:
    """One zygote and its scratch folder; one job at a time. Use one a thread."""

    def __init__(self, preload: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> None:
        """``preload`` names modules, each with an optional ``:function`` to call once, that all jobs inherit warm."""
        self.preload = tuple(preload)
        self.environment = dict(environment or {})
        self._process: subprocess.Popen[str] | None = None
        self._scratch = Path(tempfile.mkdtemp(prefix="kdata-"))

    def call(
        self,
        function: str,
        payload: Any,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        files: Mapping[str, bytes] | None = None,
        fetch: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        prepare: Callable[[Path], None] | None = None,
    ) -> Answer:
        """Run ``module:function(payload, scratch)`` in a fresh guarded child.

        ``files`` are laid into the scratch folder before, ``fetch`` names those to bring back; ``prepare`` is called
        with the folder before the job starts.

        Raises:
            JobError: the job failed, whatever it did to itself.
            IsolationError: a required guard is missing, and the job did not run.
        """
        place = Path(tempfile.mkdtemp(dir=self._scratch))
        try:
            for name, data in (files or {}).items():
                (place / name).write_bytes(data)
            if prepare:
                prepare(place)
            job: dict[str, Any] = {
                "function": function, "payload": payload, "limits": asdict(limits), "scratch": str(place),
                "environment": dict(environment or {}), "required": isolation.required(),
            }  # fmt: skip
            report = self._ask(job, limits.wall)
            if report["guards"]:  # a child that told none ended before it had any, and ran nothing
                isolation.check(job["required"], report["guards"])
            try:
                return self._read(place, report, limits, fetch)
            except JobError as error:
                error.guards = tuple(report["guards"])
                raise
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def kill(self) -> None:
        """End the job that runs now, with its zygote; the next job starts another. For other threads than the job's."""
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the zygote and remove its folder."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with contextlib.suppress(BrokenPipeError):
                        pipe.close()
            self._process = None
        shutil.rmtree(self._scratch, ignore_errors=True)

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, job: dict[str, Any], wall: float) -> dict[str, Any]:
        alive = self._process is not None and self._process.poll() is None
        process = self._process if alive and self._process else self._start()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            return self._line(process, wall + 30)
        except (BrokenPipeError, JobError) as error:
            process.kill()
            process.wait()
            self._process = None
            raise JobError("crash", f"the worker process ended ({error})") from error

    def _start(self) -> subprocess.Popen[str]:
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment |= {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1",
                        "PYTHONPATH": str(ROOT), "HOME": str(self._scratch), "TMPDIR": str(self._scratch)}  # fmt: skip
        self._scratch.mkdir(exist_ok=True)
        command = [sys.executable, "-P", "-m", "kdata.sandbox.zygote", *self.preload]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=self._scratch,
            env=environment | OFFLINE | self.environment, start_new_session=True,  # so that a Ctrl-C fails no job
        )  # fmt: skip
        try:
            self._line(self._process, START_SECONDS)
        except JobError as error:
            self._process.kill()
            self._process.wait()
            self._process = None
            raise RuntimeError(f"a worker process could not start: {' '.join(command)}") from error
        return self._process

    def _line(self, process: subprocess.Popen[str], seconds: float) -> dict[str, Any]:
        assert process.stdout is not None
        ends = time.monotonic() + seconds
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, ends - time.monotonic()))
        line = process.stdout.readline() if ready else ""
        if not line:
            raise JobError("crash", "no word from the worker process")
        report: dict[str, Any] = json.loads(line)
        return report

    def _read(self, place: Path, report: dict[str, Any], limits: Limits, fetch: Sequence[str]) -> Answer:
        status = report["status"]
        if report["timed_out"] or status in (128 + 24, 128 + 9) and report["cpu"] >= limits.cpu:
            raise JobError("timeout", f"more than {limits.wall:.0f} s or {limits.cpu:.0f} s of CPU")
        file = place / ANSWER
        if status != 0:
            raise JobError("crash", f"signal {status - 128}" if status > 128 else f"exit status {status}")
        if not file.is_file() or file.is_symlink():
            raise JobError("no answer", "the process ended without one")
        if file.stat().st_size > limits.answer:
            raise JobError("answer too large", f"{file.stat().st_size} bytes")
        answer = _parse(file.read_bytes())
        if problem := answer.get("error"):
            reason = {"MemoryError": "memory", "AnswerTooLarge": "answer too large"}.get(problem["type"], "exception")
            detail = problem["message"] if reason != "exception" else f"{problem['type']}: {problem['message']}"
            raise JobError(reason, detail, problem["type"])
        files = {n: (place / n).read_bytes() for n in fetch if (place / n).is_file() and not (place / n).is_symlink()}
        return Answer(answer["value"], tuple(report["guards"]), report["cpu"], files, report["memory"])


def _parse(data: bytes) -> dict[str, Any]:
    """The answer in a file that the job could have written itself.

    Raises:
        JobError: it has not the form of one.
    """
    try:
        answer = spoken(data)
        problem = answer.get("error")
        if problem is not None:
            return {"error": {"type": str(problem["type"]), "message": str(problem["message"])}}
        return {"value": answer["value"]}
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise JobError("no answer", f"the process wrote something else ({type(error).__name__})") from error
