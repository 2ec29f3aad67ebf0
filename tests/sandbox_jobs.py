"""What hostile code does: jobs for tests/test_sandbox.py, run in the sandbox only."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path


def add(payload, scratch):
    return payload[0] + payload[1]


def hang(payload, scratch):
    while True:
        time.sleep(1)


def spin(payload, scratch):
    while True:
        pass


def fork(payload, scratch):
    """Leave grandchildren behind that would write a file after the job has ended."""
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            time.sleep(1)
            Path(payload).write_text("still here")
            os._exit(0)
    return "forked"


def leave(payload, scratch):
    os._exit(payload)


def eat(payload, scratch):
    return len(bytearray(payload))


def segfault(payload, scratch):
    import ctypes

    ctypes.string_at(0)


def chatter(payload, scratch):
    for stream in (sys.stdout, sys.stderr):
        stream.write("x" * payload)
    os.write(1, b"y" * payload)
    subprocess.run(["echo", "z" * 1000])
    return "said"


def long_answer(payload, scratch):
    return "x" * payload


def fill_disk(payload, scratch):
    with open("big", "wb") as file:
        for _ in range(payload):
            file.write(b"0" * (1 << 20))


def destroy(payload, scratch):
    """Try to change files outside the scratch folder; say what worked."""
    worked = []
    for name, action in {
        "delete": lambda: os.unlink(payload),
        "truncate": lambda: open(payload, "w").close(),
        "create": lambda: Path(payload + ".new").touch(),
        "rename": lambda: os.rename(payload, payload + ".moved"),
        "own": lambda: Path("mine").write_text("ok"),
    }.items():
        with contextlib.suppress(OSError):
            action()
            worked.append(name)
    return worked


def connect(payload, scratch):
    with socket.create_connection(("127.0.0.1", payload), timeout=2):
        return "connected"


def kill_zygote(payload, scratch):
    os.kill(payload, 9)


def environment(payload, scratch):
    return dict(os.environ)


def forge(payload, scratch):
    """Write the answer file by oneself and end: not an answer to trust, but no crash of the parent either."""
    (scratch / "answer.json").write_text("not json")
    os._exit(0)


def link(payload, scratch):
    (scratch / "answer.json").symlink_to("/etc/passwd")
    os._exit(0)
