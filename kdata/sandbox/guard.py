"""What a child may touch: namespaces, Landlock and resource limits, each used where the system has it.

``enter`` is called in a freshly forked, single-threaded child and returns the names of the guards that hold; they
stand in every receipt as the isolation level.  Everything here is Linux; elsewhere only the resource limits hold.

Sources: landlock(7), unshare(2), user_namespaces(7), and the kernel's uapi/linux/landlock.h.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import struct
from dataclasses import dataclass
from pathlib import Path

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = (
    0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, SIGKILL = 1, 38, 9
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
# Every filesystem right that changes something: write, remove, make, refer (ABI 2), truncate (ABI 3).
LANDLOCK_WRITES = 1 << 1 | sum(1 << bit for bit in range(4, 13))
LANDLOCK_REFER, LANDLOCK_TRUNCATE = 1 << 13, 1 << 14
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a job may use."""

    wall: float = 60.0  # seconds; kept by the zygote, which kills the whole process group
    cpu: float = 60.0  # seconds, kept by the kernel
    memory: int = 6 << 30  # bytes of address space beyond what the zygote already has
    file_size: int = 1 << 30  # bytes of any one file
    answer: int = 64 << 20  # bytes of the JSON answer


def enter(scratch: Path, limits: Limits) -> list[str]:
    """Put this process behind every guard the system has. Call it once, first thing after the fork."""
    libc = ctypes.CDLL(None, use_errno=True)
    held = _namespaces(libc)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if _landlock(libc, scratch):
        held.append("landlock")
    _limit(limits)
    return [*held, "rlimits"]


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


def _namespaces(libc: ctypes.CDLL) -> list[str]:
    """New user, mount, network, IPC and PID namespaces: no network, no sight of other processes' IPC.

    The PID namespace takes the next child, see ``kdata.sandbox.zygote``; its end kills all that is left in it.
    """
    if not hasattr(libc, "unshare"):
        return []
    user, group = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWPID) != 0:
        return []
    with contextlib.suppress(OSError):  # a system may give namespaces and refuse the mapping: the child is then nobody
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return ["namespaces"]


def _landlock(libc: ctypes.CDLL, scratch: Path) -> bool:
    """Forbid every change to the file system outside ``scratch``. Needs Linux 5.13."""
    if not hasattr(libc, "syscall"):
        return False
    abi = libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, 1)
    if abi < 1:
        return False
    rights = LANDLOCK_WRITES | (LANDLOCK_REFER if abi >= 2 else 0) | (LANDLOCK_TRUNCATE if abi >= 3 else 0)
    ruleset = libc.syscall(LANDLOCK_CREATE_RULESET, struct.pack("=Q", rights), 8, 0)
    if ruleset < 0:
        return False
    for path in (str(scratch), *DEVICES):
        where = os.open(path, os.O_PATH | os.O_CLOEXEC)
        allowed = rights if os.path.isdir(path) else rights & (1 << 1 | LANDLOCK_TRUNCATE)
        libc.syscall(LANDLOCK_ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed, where), 0)
        os.close(where)
    held: bool = libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return held


def _limit(limits: Limits) -> None:
    cpu = int(limits.cpu) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file_size, limits.file_size))
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + limits.memory,) * 2)


def _address_space() -> int:
    """Bytes of address space this process has mapped, 0 where /proc is absent."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0
