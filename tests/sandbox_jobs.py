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


def count(payload, scratch):
    return len(payload)


def note(payload, scratch):
    (scratch / "note").write_text("it ran")


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


def pry(payload, scratch):
    """Look for a secret by native code, in files, through links, and in other processes; say where it was."""
    secret, found = payload["secret"].encode(), []
    for path in payload["files"]:
        for name, way in (
            ("open", path),
            ("through a link", _linked(path, scratch)),
            ("as a new name", _named(path, scratch)),
        ):
            if secret in _native_read(way):
                found.append(f"{name}: {path}")
    for place in payload["folders"]:
        with contextlib.suppress(OSError):
            found += [f"listed: {place}"] if os.listdir(place) else []
    for pid in payload["pids"]:
        found += [f"{pid}: environ"] if secret in _native_read(f"/proc/{pid}/environ") else []
        found += [f"{pid}: files"] if secret in _native_read(f"/proc/{pid}/root{payload['files'][0]}") else []
        found += [f"{pid}: memory"] if _native_read(f"/proc/{pid}/mem", payload["address"]) else []
        found += [f"{pid}: memory by a call"] if _peeked(pid, payload["address"]) else []
    return found


def _linked(path, scratch):
    place = scratch / f"link{abs(hash(path))}"
    place.symlink_to(path)
    return str(place)


def _named(path, scratch):
    place = str(scratch / f"name{abs(hash(path))}")
    with contextlib.suppress(OSError):
        os.link(path, place)
    return place


def _native_read(path, offset=0):
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.open(path.encode(), os.O_RDONLY)
    if descriptor < 0:
        return b""
    buffer = ctypes.create_string_buffer(1 << 16)
    libc.pread.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long)
    got = libc.pread(descriptor, buffer, len(buffer) if not offset else 64, offset)
    libc.close(descriptor)
    return buffer.raw[: max(0, got)]


def _peeked(pid, address):
    """Whether process_vm_readv gives 64 bytes of another process."""
    import ctypes

    class Vector(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    buffer = ctypes.create_string_buffer(64)
    own, theirs = Vector(ctypes.addressof(buffer), 64), Vector(address, 64)
    return ctypes.CDLL(None).process_vm_readv(pid, ctypes.byref(own), 1, ctypes.byref(theirs), 1, 0) > 0


def keep(payload, scratch):
    """Hold a secret in a file, as a reference's process holds its golden, until it may end."""
    (scratch / "kept.bin").write_text(payload)
    while not (scratch / "end").exists():
        time.sleep(0.02)


def network(payload, scratch):
    """Kinds of sockets and namespaces that can be had."""
    had = []
    for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6):
        with contextlib.suppress(OSError):
            socket.socket(family).close()
            had.append(family.name)
    with contextlib.suppress(OSError):
        os.unshare(os.CLONE_NEWUSER) if hasattr(os, "unshare") else _unshared()
        had.append("namespace")
    return had


def _unshared():
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x10000000):
        raise OSError(ctypes.get_errno(), "unshare")
