"""An OpenAI-compatible server on the loopback interface that replays known answers: by prompt and seed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "stub"
# Prompt and seed -> the answer, the status of an error, or a reply as it stands.
Reply = Callable[[str, int], str | int | dict[str, Any]]


@dataclass
class Asked:
    """What the stub was asked for."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def serve(reply: Reply) -> Iterator[Asked]:
    """Serve until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self._send(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})

        def do_POST(self) -> None:
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.requests.append(given)
            said = reply(given["messages"][-1]["content"], given["seed"])
            if isinstance(said, dict):
                self._send(200, said)
                return
            if isinstance(said, int):
                self._send(said, {"error": {"message": "no", "type": "stub"}})
                return
            choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": len(said.split()), "total_tokens": 1}
            self._send(200, {"id": "1", "object": "chat.completion", "created": 0, "model": MODEL,
                             "choices": [choice], "usage": usage, "system_fingerprint": ""})  # fmt: skip

        def _send(self, status: int, value: dict[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

    server = Server(("127.0.0.1", 0), Handler)
    asked = Asked(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
