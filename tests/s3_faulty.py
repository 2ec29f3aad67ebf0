"""Amazon S3 on the loopback interface, by moto, behind a layer that makes it as unreliable as a network is."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

BUSY = b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


@dataclass
class Faults:
    """Which keys fail, how often, and who asked for what."""

    busy: dict[str, int] = field(default_factory=dict)  # key -> how many times it answers 503
    cut: dict[str, int] = field(default_factory=dict)  # key -> how many times half of it arrives
    asked: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def due(self, kind: dict[str, int], key: str) -> bool:
        with self.lock:
            kind[key] = kind.get(key, 0) - 1
            return kind[key] >= 0


class Layer:
    """A WSGI application in front of moto's."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.inner: Any = DomainDispatcherApplication(create_backend_app)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        key = environ["PATH_INFO"].rsplit("/", 1)[-1]
        if environ["REQUEST_METHOD"] != "GET":
            return self.inner(environ, start_response)  # type: ignore[no-any-return]
        with self.faults.lock:
            self.faults.asked[key] += 1
        if self.faults.due(self.faults.busy, key):
            start_response("503 Slow Down", [("Content-Type", "application/xml"), ("Content-Length", str(len(BUSY)))])
            return [BUSY]
        answer = self.inner(environ, start_response)
        return half(answer) if self.faults.due(self.faults.cut, key) else answer


def half(answer: Iterable[bytes]) -> Iterator[bytes]:
    """The first half of a body, then the end of the connection."""
    body = b"".join(answer)
    yield body[: len(body) // 2]
    raise ConnectionAbortedError


@contextmanager
def serve() -> Iterator[tuple[str, Faults]]:
    """Run the server until the block ends: its address and its faults."""
    faults = Faults()
    server = make_server("127.0.0.1", 0, Layer(faults), threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", faults
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
