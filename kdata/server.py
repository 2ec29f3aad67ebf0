"""A Prefect server of our own, which ends when we do."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from kdata.sandbox.guard import die_with_parent

DEFAULT_URL = "http://127.0.0.1:4200/api"
START_SECONDS = 180.0
QUIET = {"PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1", "PREFECT_SERVER_DATABASE_TIMEOUT": "60"}


class ServerError(RuntimeError):
    """No Prefect server could be had; the message says why in one line."""


def answers(url: str) -> bool:
    """Whether a Prefect server answers at this API URL."""
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/health", timeout=3) as reply:  # noqa: S310 - the user's own URL
            return bool(reply.status == 200)
    except (OSError, ValueError):
        return False


def demand(url: str) -> None:
    """Find out that something answers at this API URL, be it a refusal: Prefect's own error is a page long.

    Raises:
        ServerError: nothing does.
    """
    try:
        urllib.request.urlopen(f"{url.rstrip('/')}/health", timeout=30).close()  # noqa: S310 - the user's own URL
    except urllib.error.HTTPError:
        return
    except (OSError, ValueError) as error:
        raise ServerError(
            f"no Prefect server answers at PREFECT_API_URL={url} ({error}): start one, or unset it to build without"
        ) from error


@contextmanager
def server(url: str, environment: Mapping[str, str] | None = None) -> Iterator[None]:
    """A server at this local URL while the block runs; one that is there already is left alone.

    Raises:
        ServerError: it is not there and cannot be started here.
    """
    if answers(url):
        yield
        return
    place = urlsplit(url)
    if place.hostname not in ("127.0.0.1", "localhost"):
        raise ServerError(f"no Prefect server answers at {url}, and one can be started on this machine only")
    print(f"kdata: starting a Prefect server at {url}", file=sys.stderr, flush=True)  # its first start is slow
    where = ["--host", place.hostname, "--port", str(place.port or 4200)]
    command = [sys.executable, "-m", "prefect", "server", "start", *where]
    # In a session of its own, so that Ctrl-C reaches us first; the kernel ends it if we are killed.
    process = subprocess.Popen(
        command, env={**os.environ, **QUIET, **(environment or {})}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=die_with_parent,
    )  # fmt: skip
    try:
        _wait(process, url)
        yield
    finally:
        _end(process)


@contextmanager
def private_server() -> Iterator[str]:
    """A server on a free port with a database that is thrown away; gives its URL. The user's own is not touched."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}/api"
    with tempfile.TemporaryDirectory(prefix="kdata-prefect-") as home:
        database = f"sqlite+aiosqlite:///{Path(home) / 'prefect.db'}"
        with server(url, {"PREFECT_HOME": home, "PREFECT_API_DATABASE_CONNECTION_URL": database}):
            yield url


def _wait(process: subprocess.Popen[bytes], url: str) -> None:
    ends = time.monotonic() + START_SECONDS
    while not answers(url):
        if process.poll() is not None:
            raise ServerError(f"the Prefect server for {url} ended at once; is the port taken?")
        if time.monotonic() > ends:
            raise ServerError(f"the Prefect server did not answer at {url} within {START_SECONDS:.0f} s")
        time.sleep(0.5)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
