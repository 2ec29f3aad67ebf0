"""What a long command owes the terminal it runs in: progress while it works, and an end at once on Ctrl-C."""

from __future__ import annotations

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
        self._lock = threading.Lock()
        self._last = time.monotonic()

    def settle(self, kept: bool) -> None:
        """Count one record."""
        with self._lock:
            now = time.monotonic()
            self.progress.finish(self.stage, int(kept), int(not kept), now - self._last)
            self._last = now
            self.watcher.update(self.progress)
