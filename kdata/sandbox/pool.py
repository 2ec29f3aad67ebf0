"""Warm workers, kept between jobs: starting a zygote costs seconds, forking from it costs milliseconds."""

from __future__ import annotations

import atexit
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from kdata.sandbox import isolation
from kdata.sandbox.worker import Worker

_Key = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]
_idle: dict[_Key, list[Worker]] = defaultdict(list)
_lock = threading.Lock()


@contextmanager
def lease(*preload: str, **environment: str) -> Iterator[Worker]:
    """A worker with these modules loaded and these variables set, for this thread until the block ends."""
    key = (preload, tuple(sorted(environment.items())))
    with _lock:
        worker = _idle[key].pop() if _idle[key] else Worker(preload, environment)
    try:
        yield worker
    finally:
        with _lock:
            _idle[key].append(worker)


def demand(guards: str | None) -> None:
    """Require guards, by their names joined by ``+``, of every job of this process, and see whether one has them here.

    Raises:
        ValueError: there is no such guard.
        IsolationError: this machine does not give one; a job of our own found out, before any other code ran.
    """
    isolation.require(isolation.parse(guards))
    if isolation.required():
        with Worker() as worker:
            worker.call("kdata.sandbox.isolation:probe", None)


@atexit.register
def close() -> None:
    """End all idle workers."""
    with _lock:
        for workers in _idle.values():
            while workers:
                workers.pop().close()
