"""Warm workers, kept between jobs: starting a zygote costs seconds, forking from it costs milliseconds."""

from __future__ import annotations

import atexit
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

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


@atexit.register
def close() -> None:
    """End all idle workers."""
    with _lock:
        for workers in _idle.values():
            while workers:
                workers.pop().close()
