"""What a child may touch: namespaces, Landlock, seccomp and resource limits, each used where the system has it.

``separate`` is called in a freshly forked, single-threaded child and ``confine`` in the child of that one; they return
the names of the guards that hold, which stand in every receipt as the isolation level:

- ``namespaces``: no network, no sight of other processes, and none that outlives the job;
- ``landlock``: files outside the scratch folder cannot be changed, and only programs and libraries can be read;
- ``seccomp``: the system calls that no job needs are refused;
- ``no capabilities``: root has no more rights than its files' owner;
- ``rlimits``: time, memory and file sizes.

Everything here is Linux; elsewhere only the resource limits hold.

Sources: unshare(2), user_namespaces(7), mount(2), capabilities(7).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import struct
from dataclasses import dataclass
from pathlib import Path

from kdata.sandbox import landlock, seccomp

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = (
    0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 18
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, SIGKILL = 1, 4, 38, 9
CAPABILITIES_VERSION = 0x20080522
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a job may use."""

    wall: float = 60.0  # seconds; kept by the zygote, which kills the whole process group
    cpu: float = 60.0  # seconds, kept by the kernel
    memory: int = 6 << 30  # bytes of address space (with devices: of data) beyond what the zygote already has
    file_size: int = 1 << 30  # bytes of any one file
    answer: int = 64 << 20  # bytes of the JSON answer
    devices: tuple[str, ...] = ()  # device nodes that it may write to, a GPU's


def prepare() -> None:
    """Work out once, before any fork, what every job's guards need."""
    landlock.readable()
    seccomp.program(devices=False)


def separate(limits: Limits) -> list[str]:
    """Put this process into namespaces of its own. Call it first thing after the fork, then fork, then ``confine``.

    CUDA looks itself up under /proc by the number that it has in its namespace: where no /proc of the namespace's own
    can be mounted (in many containers), a job with devices keeps its parent's process numbers.
    """
    kinds = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC
    if not limits.devices or _can_mount_proc():
        kinds |= CLONE_NEWPID
    return ["namespaces"] if _unshare(kinds) else []


def confine(scratch: Path, limits: Limits) -> list[str]:
    """Put this process, the first of its namespaces, behind every other guard the system has."""
    if os.getpid() == 1:
        _mount_proc()  # before Landlock, which forbids mounting
    elif not limits.devices:
        LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)  # other jobs see this process: its memory is not theirs
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # libcuda names its threads in /proc/self/task, or gives up with error 304
    devices = (*limits.devices, "/proc/self") if limits.devices else ()
    held = {
        "landlock": landlock.restrict(LIBC, scratch, devices),
        "no capabilities": _drop_capabilities(),
        "seccomp": seccomp.restrict(LIBC, bool(devices)),
        "rlimits": _limit(limits),
    }
    return [name for name, holds in held.items() if holds]


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


def _unshare(kinds: int) -> bool:
    """New user, mount, network, IPC and PID namespaces: no network, no sight of other processes' IPC.

    The PID namespace takes the next child, see ``kdata.sandbox.zygote``; its end kills all that is left in it.
    """
    if not hasattr(LIBC, "unshare"):
        return False
    user, group = os.getuid(), os.getgid()
    if LIBC.unshare(kinds) != 0:
        return False
    with contextlib.suppress(OSError):  # a system may give namespaces and refuse the mapping: the child is then nobody
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


def _mount_proc() -> bool:
    """A /proc that shows this PID namespace only; needs a mount namespace of one's own."""
    private = LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) == 0
    return private and bool(LIBC.mount(b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None) == 0)


def _can_mount_proc() -> bool:
    """Whether a child of new namespaces may mount its /proc, found by letting one try."""
    pid = os.fork()
    if pid == 0:
        first = os.fork() if _unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) else -1
        if first == 0:
            os._exit(0 if _mount_proc() else 1)
        os._exit(1 if first < 0 else os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _drop_capabilities() -> bool:
    """Give up every right of root's; what it starts has none either, because of ``PR_SET_NO_NEW_PRIVS``."""
    if not hasattr(LIBC, "capset"):
        return False
    return bool(LIBC.capset(struct.pack("=Ii", CAPABILITIES_VERSION, 0), bytes(24)) == 0)


def _limit(limits: Limits) -> bool:
    cpu = int(limits.cpu) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file_size, limits.file_size))
    # CUDA reserves more address space than there is memory: with a GPU only what is written to counts.
    kind = resource.RLIMIT_DATA if limits.devices else resource.RLIMIT_AS
    resource.setrlimit(kind, (_address_space() + limits.memory,) * 2)
    return True


def _address_space() -> int:
    """Bytes of address space this process has mapped, 0 where /proc is absent."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0
