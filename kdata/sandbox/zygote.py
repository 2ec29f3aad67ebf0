"""The zygote: a process with the slow imports done, which forks one guarded child a job.

It speaks JSON lines on its standard input and output with ``kdata.sandbox.worker``.  A job names a function
``module:function`` that takes the job's payload and the scratch folder (the child's working directory) and returns
plain JSON; tensors travel as files in the scratch folder.  No pickle crosses this line.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import select
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from kdata.sandbox import pages
from kdata.sandbox.guard import Limits, confine, die_with_parent, prepare, separate

ANSWER = "answer.json"
LARGE = 1 << 22  # characters of a job, of which the heap keeps room that nothing else needs
PAUSE = 0.005  # seconds between two looks at a child of which the system does not tell when it ends


def main() -> None:
    """Import what the command line names, then serve jobs until standard input ends.

    It ends when its standard input does, so it survives the thread that started it (the kernel's parent-death signal
    would not let it) and never its process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    jobs, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    for name in sys.argv[1:]:
        module, _, warm = name.partition(":")
        loaded = importlib.import_module(module)
        if warm:
            getattr(loaded, warm)()
    prepare()
    pages.share()
    print(json.dumps({"ready": os.getpid()}), file=answers, flush=True)
    while line := jobs.readline():
        job, large = json.loads(line), len(line) >= LARGE
        del line  # children would inherit it beside what it says
        if large:
            pages.release()
        heard, told = os.pipe()
        pid = os.fork()
        if pid == 0:
            jobs.close()
            answers.close()
            os.close(heard)
            _child(job, told)
        os.close(told)
        status, timed_out, usage = _wait(pid, job["limits"]["wall"], jobs.fileno())
        report = {"status": status, "timed_out": timed_out, "cpu": usage.ru_utime + usage.ru_stime,
                  "memory": usage.ru_maxrss << 10, "guards": _guards(heard)}  # fmt: skip
        del job  # it may be a whole package, which the next job's processes would have in memory, too
        if large:
            pages.release()
        print(json.dumps(report), file=answers, flush=True)
    _leave()


def _wait(pid: int, wall: float, jobs: int) -> tuple[int, bool, resource.struct_rusage]:
    """Exit status (negative: the signal), whether the time was up, what was used; ends when the parent does."""
    ends = time.monotonic() + wall
    timed_out, ended = False, _descriptor(pid)
    waiting = select.poll()
    waiting.register(jobs, 0)  # reports only that the other end is closed
    if ended is not None:
        waiting.register(ended, select.POLLIN)
    while True:
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            if ended is not None:
                os.close(ended)
            return os.waitstatus_to_exitcode(status), timed_out, usage
        if time.monotonic() > ends and not timed_out:
            timed_out = True
            _kill(pid)
        pause = PAUSE if ended is None or timed_out else max(0.0, ends - time.monotonic()) + PAUSE
        if any(place == jobs for place, _ in waiting.poll(pause * 1000)):
            _kill(pid)
            _leave()


def _guards(heard: int) -> list[str]:
    """What the child wrote before the job's own code ran, which therefore cannot claim more."""
    with os.fdopen(heard) as file:
        return [guard for guard in file.read().split("+") if guard]


def _descriptor(pid: int) -> int | None:
    """What becomes readable when a child ends; None where the system has no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _leave() -> NoReturn:
    """End, and take the scratch folder along: the parent may have been killed."""
    shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
    os._exit(0)


def _kill(pid: int) -> None:
    """Kill the job's whole process group; before it has one, the process."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(pid, signal.SIGKILL)


def _child(job: dict[str, Any], told: int) -> None:
    """Become the job behind its guards and never return. A second fork makes it the init of its PID namespace."""
    die_with_parent()
    os.setsid()
    scratch, limits = Path(job["scratch"]), Limits(**job["limits"])
    os.chdir(scratch)
    os.environ.update(TMPDIR=str(scratch), HOME=str(scratch), **job["environment"])
    guards = separate(limits)
    pid = os.fork()
    if pid == 0:
        die_with_parent()
        guards += confine(scratch, limits)
        os.write(told, "+".join(guards).encode())
        os.close(told)
        os._exit(_answer(job, scratch, limits) if set(job["required"]) <= set(guards) else 0)
    os.close(told)
    _, status, _ = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _answer(job: dict[str, Any], scratch: Path, limits: Limits) -> int:
    """Run the function and leave its answer in the scratch folder, written whole or not at all."""
    try:
        module, _, name = job["function"].partition(":")
        function: Callable[[Any, Path], Any] = getattr(importlib.import_module(module), name)
        answer: dict[str, Any] = {"value": function(job["payload"], scratch)}
    except BaseException as error:  # noqa: BLE001 - the job's own failure, whatever it is, is the answer
        memory = isinstance(error, MemoryError) or "can't allocate memory" in str(error)
        kind = "MemoryError" if memory else type(error).__name__
        trace = "".join(traceback.format_tb(error.__traceback__)[-6:])
        answer = {"error": {"type": kind, "message": str(error)[:4000], "trace": trace[-4000:]}}
    text = json.dumps(answer)
    if len(text) > limits.answer:
        text = json.dumps({"error": {"type": "AnswerTooLarge", "message": f"{len(text)} bytes", "trace": ""}})
    (scratch / f".{ANSWER}").write_text(text)
    os.rename(scratch / f".{ANSWER}", scratch / ANSWER)
    return 0


if __name__ == "__main__":
    main()
