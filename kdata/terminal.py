"""What a command owes the terminal it runs in: progress while it works, an end at once on Ctrl-C, errors in a line."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from rich.console import Console

from kdata.progress import Lines, Progress, Terminal, Watcher

# Python's own words begin with a number and do not tell what to do.
ADVICE = {
    errno.ENOENT: "there is no {}",
    errno.EISDIR: "{} is a folder: name a file",
    errno.ENOTDIR: "{} is a file: name a folder",
    errno.EACCES: "{}: no permission, or a disk that is read-only: name another place",
    errno.EPERM: "{}: no permission: name another place",
    errno.EROFS: "{}: the disk is read-only: name another place",
    errno.ENOSPC: "no space is left on the disk{}: make room, and run the same command again",
}


def line_of(error: Exception) -> str:
    """An error in one line that tells what to do where that is known."""
    if isinstance(error, OSError) and error.errno in ADVICE:
        if error.errno == errno.ENOSPC:
            return ADVICE[error.errno].format(f" of {error.filename}" if error.filename else "")
        if error.filename:
            return ADVICE[error.errno].format(error.filename)
    return " ".join(str(error).split()) or type(error).__name__


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say on a terminal what one long step is about while it runs; elsewhere nothing: a program reads that."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


@contextmanager
def watching(parallel: int) -> Iterator[Watcher]:
    """Bars on a terminal, plain lines on standard error elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(parallel)
        return
    with Terminal(parallel, console) as bars:
        yield bars


@contextmanager
def resumable() -> Iterator[None]:
    """Let Ctrl-C end the process at once.

    Threads cannot be stopped, unfinished shards are worth nothing, and the sandbox's processes end with ours.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        Console(stderr=True).show_cursor(True)
        os.write(sys.stderr.fileno(), b"\nkdata: stopped. The same command goes on from the last finished shard.\n")
        os._exit(130)

    if threading.current_thread() is not threading.main_thread():  # no signal is ours to hear
        yield
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Tally:
    """Shows a stage's records as each is settled, whichever thread settles it."""

    def __init__(self, stage: str, expected: int, watcher: Watcher) -> None:
        self.stage, self.watcher = stage, watcher
        self.progress = Progress((stage,))
        self.progress.expect(stage, expected)
        watcher.update(self.progress)  # the first record may take a minute
        self._lock = threading.Lock()
        self._last = time.monotonic()

    def settle(self, kept: bool) -> None:
        """Count one record."""
        with self._lock:
            now = time.monotonic()
            self.progress.finish(self.stage, int(kept), int(not kept), now - self._last)
            self._last = now
            self.watcher.update(self.progress)
