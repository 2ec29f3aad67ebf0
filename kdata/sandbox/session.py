"""A conversation with one job: the parent asks, the child answers, as JSON lines through two named pipes.

For work that the parent directs step by step, such as timing, where each question must come after the last answer.
What the child says is data of limited size; nothing it does to the pipes harms more than its own session.
"""

from __future__ import annotations

import json
import os
import select
import stat
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from kdata.sandbox.guard import Limits
from kdata.sandbox.isolation import IsolationError
from kdata.sandbox.spoken import spoken
from kdata.sandbox.worker import Answer, JobError, Worker

ASKED, ANSWERED = "asked.pipe", "answered.pipe"
LONGEST = 1 << 20  # bytes of one answer


class Session:
    """A job of ``worker`` that runs until it is told ``None``; used as a context manager, by one thread.

    The job's function finds its side with ``Peer``.
    """

    def __init__(
        self, worker: Worker, function: str, payload: Any, limits: Limits, files: Mapping[str, bytes] | None = None
    ) -> None:
        self.folder = Path()
        self.seconds = 0.0  # how long the last question took, as this side's clock has it
        self._pipes: list[int] = []
        self._buffer = b""
        self._answer: Answer | None = None
        self._error: JobError | IsolationError | None = None
        self._hangs = False
        self._worker = worker
        self._ready = threading.Event()
        self._woken, self._wake = os.pipe()
        self._thread = threading.Thread(
            target=self._run, args=(worker, function, payload, limits, files), name="session", daemon=True
        )

    def __enter__(self) -> Session:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._hangs:  # it would not read that it shall end, and be waited for until its limit
            self._worker.kill()
        elif self._pipes and self._thread.is_alive():
            os.write(self._pipes[0], b"null\n")
        self._thread.join()
        for pipe in (*self._pipes, self._woken, self._wake):
            os.close(pipe)

    @property
    def guards(self) -> tuple[str, ...]:
        """What held the job; () until it has ended."""
        ended = self._answer or self._error
        return ended.guards if isinstance(ended, Answer | JobError) else ()

    def ask(self, question: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Ask, and wait for the answer.

        Raises:
            JobError: the job has ended, took longer, or answered something that is no JSON object.
            IsolationError: a required guard is missing, and the job did not run.
        """
        if not self._pipes:
            raise self._ended()
        started = time.perf_counter()
        os.write(self._pipes[0], json.dumps(question).encode() + b"\n")
        line = self._line(started + seconds)
        self.seconds = time.perf_counter() - started
        try:
            answer = spoken(line)
        except (ValueError, RecursionError) as error:
            raise JobError("no answer", "it said what is no JSON") from error
        if not isinstance(answer, dict):
            raise JobError("no answer", "it said what is no JSON object")
        return answer

    def _line(self, ends: float) -> bytes:
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self._pipes[1], self._woken], [], [], max(0.0, ends - time.perf_counter()))
            if not ready:
                self._hangs = True
                raise JobError("timeout", "no answer in time")
            if self._pipes[1] in ready:
                self._buffer += os.read(self._pipes[1], 1 << 16)
            elif self._woken in ready:
                raise self._ended()
            if len(self._buffer) > LONGEST:
                raise JobError("answer too large", f"more than {LONGEST} bytes")
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _ended(self) -> JobError | IsolationError:
        self._thread.join()
        return self._error or JobError("crash", "the process ended early")

    def _run(
        self, worker: Worker, function: str, payload: Any, limits: Limits, files: Mapping[str, bytes] | None
    ) -> None:
        try:
            self._answer = worker.call(function, payload, limits, files, prepare=self._prepare)
        except (JobError, IsolationError) as error:
            self._error = error
        finally:
            self._ready.set()
            os.write(self._wake, b"\n")

    def _prepare(self, folder: Path) -> None:
        self.folder = folder
        for name in (ASKED, ANSWERED):
            os.mkfifo(folder / name)
            self._pipes.append(os.open(folder / name, os.O_RDWR | os.O_CLOEXEC))  # both ends: opening never waits
        self._ready.set()

    def read(self, name: str, most: int) -> bytes:
        """Content of a file that the job wrote, of at most this many bytes.

        Raises:
            JobError: it is no plain file, or larger.
        """
        try:
            file = os.open(self.folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise JobError("no answer", f"it left no {name}") from error
        with open(file, "rb") as content:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise JobError("no answer", f"its {name} is no plain file")
            data = content.read(most + 1)
        if len(data) > most:
            raise JobError("answer too large", f"{name} has more than {most} bytes")
        return data

    def take(self, name: str, to: Path) -> Path:
        """Move a file that the job wrote out of its reach.

        Raises:
            JobError: it is no plain file.
        """
        try:
            os.rename(self.folder / name, to)
        except OSError as error:
            raise JobError("no answer", f"it left no {name}") from error
        if not stat.S_ISREG(to.lstat().st_mode):
            to.unlink()
            raise JobError("no answer", f"its {name} is no plain file")
        return to


class Peer:
    """The job's side of a session."""

    def __init__(self, scratch: Path) -> None:
        self._asked = (scratch / ASKED).open("rb", buffering=0)
        self._answered = (scratch / ANSWERED).open("wb", buffering=0)
        self._buffer = b""

    def question(self) -> dict[str, Any] | None:
        """The next question; None at the end."""
        while b"\n" not in self._buffer:
            self._buffer += self._asked.read(1 << 16)
        line, _, self._buffer = self._buffer.partition(b"\n")
        question: dict[str, Any] | None = json.loads(line)
        return question

    def answer(self, answer: Mapping[str, Any]) -> None:
        """Answer the last question."""
        self._answered.write(json.dumps(answer).encode() + b"\n")
