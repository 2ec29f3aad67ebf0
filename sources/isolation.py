"""One definition's work in a fork of its own, under a CPU-time limit.

What crashes, hangs or patches torch harms no other.
"""

from __future__ import annotations

import gc
import itertools
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sources.infer.running.check import TOO_LARGE, UnfitError
from sources.infer.running.memory import LEAST, RESIDENT, full
from sources.infer.running.progress import out_of_memory
from sources.text.failing import failed_at

FRAMES = 1000  # of Python's own limit: code that calls itself for ever is to end with an error, not with a crash
YOUNG, TIMES = 20_000, 20  # objects between two collections, and of these between two older ones: forks are short-lived
PARTS = 2  # of a job's work that may have so much time each, see ``extend``
NOT_ALONE = "does not run alone"
BEYOND = ("timeout", "crash", NOT_ALONE)  # how what has no memory left ends, too: Python's own frames are lost then
TICK = 0.01  # seconds between two looks at what is in memory
MOST = RESIDENT + LEAST + (1 << 22)  # bytes of it: a little more than what a call of a module may come to
ROOM = 1 << 27  # beyond what a parent has that is larger than mining's
WALL_FACTOR = 10  # a loaded machine may take this much longer on the clock


class OutOfTimeError(BaseException):
    """Raised by the profiling timer: no ``except Exception`` of a module's catches it."""


def isolated(
    job: Callable[[], dict[str, Any]], seconds: int, memory: int | None = None, patience: int = WALL_FACTOR
) -> dict[str, Any]:
    """Run a job in a fork under a CPU-time limit. Whatever happens to it, the answer has a ``reason``.

    It may take so many bytes of ``memory`` beyond what its parent has; None: as many as its parent may.  On the clock
    it may take ``patience`` times as long.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.setsid()
        _answer(job, writing, seconds, memory)
    os.close(writing)
    text, ended = _read(reading, seconds * patience)
    os.close(reading)
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue  # it has ended by itself
    _, status = os.waitpid(pid, 0)
    try:
        answer: dict[str, Any] = json.loads(text)
        return answer
    except ValueError:
        late = not ended or os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
        return {"reason": "timeout" if late else "crash", "detail": f"status {status}" if ended and not late else ""}


def _limit_memory(memory: int) -> None:
    """From now on this process may take so many bytes of address space more than it has, and have ``MOST`` in memory.

    Tensors are weighed as they are made; what numpy takes in a constructor, or Python for a list, is seen only by
    looking again and again.
    """
    taken, held = (int(n) * resource.getpagesize() for n in Path("/proc/self/statm").read_text().split()[:2])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = taken + memory
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    most = max(MOST, held + ROOM)

    def look(*_: object) -> None:
        if full(most):
            raise MemoryError(f"more than {most >> 20} MiB in memory")

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, TICK, TICK)


def allowance(times: int, seconds: float) -> Callable[[], bool]:
    """What tells, whenever it is asked, whether something more may be tried: so many times, each asked for once.

    The forks that ended since may have taken so many CPU seconds, which is no measure, as a loaded machine takes more.
    """

    def spent() -> float:
        forks = resource.getrusage(resource.RUSAGE_CHILDREN)
        return forks.ru_utime + forks.ru_stime

    most, left = spent() + seconds, itertools.repeat(True, times)
    return lambda: next(left, False) and spent() <= most


def extend(seconds: int) -> None:
    """For a job in its fork that is done with one part of its work: so much CPU time for the next one, from now on."""
    if not signal.getitimer(signal.ITIMER_PROF)[0]:  # without a limit there is nothing to extend
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + seconds + 2
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (min(limit, hard), hard))
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _answer(job: Callable[[], dict[str, Any]], writing: int, seconds: int, memory: int | None) -> None:
    """In the fork: run the job, write what came out, end."""

    def out_of_time(*_: object) -> None:
        raise OutOfTimeError

    gc.set_threshold(YOUNG, TIMES, TIMES)
    sys.setrecursionlimit(FRAMES)
    signal.signal(signal.SIGPROF, out_of_time)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = PARTS * seconds + 3 if hard == resource.RLIM_INFINITY else min(hard, PARTS * seconds + 3)
    resource.setrlimit(resource.RLIMIT_CPU, (min(seconds + 2, most), most))
    if memory is not None:
        _limit_memory(memory)
    try:
        answer = job()
    except OutOfTimeError:
        answer = {"reason": "timeout", "detail": f"{seconds} s of CPU time"}
    except UnfitError as error:
        answer = {"reason": error.reason, "detail": str(error)}
    except BaseException as error:  # noqa: BLE001 - whatever a module raises is its outcome
        reason = TOO_LARGE if out_of_memory(error) else NOT_ALONE
        answer = {"reason": reason, "detail": f"{type(error).__name__}: {error}"[:500], "line": failed_at(error)}
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    with os.fdopen(writing, "w") as file:
        file.write(json.dumps(answer) + "\n")
    os._exit(0)


def _read(pipe: int, seconds: float) -> tuple[str, bool]:
    """A line that comes through a pipe, and whether it came, or the pipe closed, before the time was up.

    Processes that a module left behind may hold the pipe open.
    """
    ends, parts = time.monotonic() + seconds, list[bytes]()
    while (left := ends - time.monotonic()) > 0:
        ready, _, _ = select.select([pipe], [], [], left)
        data = os.read(pipe, 1 << 16) if ready else b""
        if not data:
            return b"".join(parts).decode("utf-8", "replace"), bool(ready)
        parts.append(data)
        if data.endswith(b"\n"):
            return b"".join(parts).decode("utf-8", "replace"), True
    return b"".join(parts).decode("utf-8", "replace"), False
