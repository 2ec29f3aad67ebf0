"""Landlock: the part of the file system that a job may read, and the smaller one that it may change.

Reading is allowed where Python, its packages and the system's libraries are, so native code in a job finds no other
job's files, no home folder and no data set.  A process behind Landlock can also neither trace nor read the memory or
the environment of one that is not; newer kernels let it send no signal out of its domain and open no TCP connection.

Sources: landlock(7), and the kernel's uapi/linux/landlock.h.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
WRITE_FILE, TRUNCATE, REFER = 1 << 1, 1 << 14, 1 << 13  # the last two since ABI 3 and 2
READS = 1 << 0 | 1 << 2 | 1 << 3  # execute, read a file, list a folder
WRITES = WRITE_FILE | sum(1 << bit for bit in range(4, 13))  # remove and make, too
TCP, SCOPES = 0b11, 0b11  # bind and connect, ABI 4; abstract sockets and signals, ABI 6
NODES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SYSTEM = (
    "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/proc", "/sys", "/etc/ld.so.cache",
    "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf",
    "/etc/alternatives", "/etc/ssl/openssl.cnf",
)  # fmt: skip
WITH_DEVICES = ("/run", "/etc", "/opt")  # where drivers keep sockets, settings and libraries
SEARCHED = ("PATH", "LD_LIBRARY_PATH", "CUDA_HOME", "VIRTUAL_ENV")  # variables that name folders of programs


def restrict(libc: ctypes.CDLL, scratch: Path, devices: Sequence[str] = ()) -> bool:
    """Put this process and its children behind Landlock for good; False where the system has none.

    Needs Linux 5.13, and ``PR_SET_NO_NEW_PRIVS`` set.
    """
    abi = libc.syscall(CREATE_RULESET, None, 0, 1) if hasattr(libc, "syscall") else 0
    if abi < 1:
        return False
    writes = WRITES | (REFER if abi >= 2 else 0) | (TRUNCATE if abi >= 3 else 0)
    handled = struct.pack("=QQQ", READS | writes, TCP if abi >= 4 else 0, SCOPES if abi >= 6 else 0)
    ruleset = libc.syscall(CREATE_RULESET, handled, 8 if abi < 4 else 16 if abi < 6 else 24, 0)
    if ruleset < 0:
        return False
    _allow(libc, ruleset, readable(), READS)
    _allow(libc, ruleset, WITH_DEVICES if devices else (), READS)
    _allow(libc, ruleset, (str(scratch), *NODES, *devices), READS | writes)
    held: bool = libc.syscall(RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return held


def _allow(libc: ctypes.CDLL, ruleset: int, paths: Iterable[str], rights: int) -> None:
    """Allow what lies under each path; what does not exist needs no rule."""
    for path in paths:
        with contextlib.suppress(OSError):
            where = os.open(path, os.O_PATH | os.O_CLOEXEC)
            fitting = rights if os.path.isdir(path) else rights & (1 << 0 | WRITE_FILE | 1 << 2 | TRUNCATE)
            libc.syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", fitting, where), 0)
            os.close(where)


@functools.cache
def readable() -> tuple[str, ...]:
    """What a job may read besides its scratch folder: programs and libraries, nobody's data."""
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    searched = (entry for name in SEARCHED for entry in os.environ.get(name, "").split(os.pathsep))
    found = (path for entry in (*sys.path, *searched) for path in _folders(entry))
    return tuple(path for path in dict.fromkeys((*SYSTEM, *sorted(prefixes), *found)) if os.path.exists(path))


def _folders(entry: str) -> Iterator[str]:
    """A search path's entry; of this checkout its packages only, and nothing of what lies around workers' folders."""
    if not os.path.isabs(entry):
        return
    path = Path(entry).resolve()
    if path == ROOT:
        yield from (str(inner.parent) for inner in sorted(ROOT.glob("*/__init__.py")))
    elif not any(place.is_relative_to(path) for place in (ROOT, Path(os.environ["TMPDIR"]).resolve().parent)):
        yield str(path)
