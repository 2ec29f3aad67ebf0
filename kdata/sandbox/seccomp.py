"""Seccomp: the system calls that no job needs, refused. What the other guards forbid stays forbidden where they lack.

A deny list, for what Python, torch and compilers call is too much to list: mounting, tracing, other processes' memory,
namespaces, keys, kernel modules, the interfaces by which kernels are attacked most, and sockets.

Sources: seccomp(2), uapi/linux/{seccomp,filter,audit}.h, and the tables of system calls of the two architectures.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import struct
from collections.abc import Iterable, Mapping

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
EPERM, ENOSYS = 1, 38
LOAD, EQUAL, GREATER, ANY_BIT, RETURN = 0x20, 0x15, 0x25, 0x45, 0x06  # BPF_LD|W|ABS; JMP|JEQ, JGT, JSET; BPF_RET
NUMBER, ARCHITECTURE, FIRST = 0, 4, 16  # offsets in struct seccomp_data; the last, the first argument's lower half
NAMESPACES = 0x7E020000  # CLONE_NEW*, of those that clone takes
FAMILIES = (1, 16)  # AF_UNIX and AF_NETLINK, by which drivers talk
X32 = 0x3FFFFFFF  # numbers above are of another ABI
# For each architecture its audit name, the calls refused, clone, clone3 and socket.
COMMON = (*range(425, 434), 438, 440, 442)  # io_uring, the new mount calls, pidfd_getfd, process_madvise
TABLES: Mapping[str, tuple[int, tuple[int, ...], int, int]] = {
    "x86_64": (0xC000003E, (101, 103, 155, 161, 163, 165, 166, 167, 168, 169, 175, 176, 179, 246, 248, 249, 250, 272,
                            298, 304, 308, 310, 311, 312, 313, 320, 321, 323), 56, 41),
    "aarch64": (0xC00000B7, (117, 116, 41, 51, 89, 40, 39, 224, 225, 142, 105, 106, 60, 104, 217, 218, 219, 97,
                             241, 265, 268, 270, 271, 272, 273, 294, 280, 282), 220, 198),
}  # fmt: skip
CLONE3 = 435


def restrict(libc: ctypes.CDLL, devices: bool) -> bool:
    """Refuse those calls to this process and its children for good; False where the system has no such filter.

    ``devices``: the job uses a GPU, whose driver talks to others of its parts. Needs ``PR_SET_NO_NEW_PRIVS`` set.
    """
    code = program(devices)
    if not code or not hasattr(libc, "prctl"):
        return False
    memory = ctypes.create_string_buffer(code, len(code))
    described = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(memory))  # struct sock_fprog
    return bool(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, described, 0, 0) == 0)


@functools.cache
def program(devices: bool) -> bytes:
    """The filter for this machine; empty where its architecture is none that is known here."""
    table = TABLES.get(platform.machine())
    return b"".join(_instructions(*table, devices)) if table else b""


def _instructions(architecture: int, refused: Iterable[int], clone: int, socket: int, devices: bool) -> list[bytes]:
    """The filter, in the kernel's virtual machine: each test stands before its own answer."""
    no = ERRNO | EPERM
    code = [_step(LOAD, ARCHITECTURE), _step(EQUAL, architecture, 1, 0), _step(RETURN, no)]
    code += [_step(LOAD, NUMBER), _step(GREATER, X32, 0, 1), _step(RETURN, no)]
    for call in (*refused, *COMMON):
        code += [_step(EQUAL, call, 0, 1), _step(RETURN, no)]
    code += [_step(EQUAL, CLONE3, 0, 1), _step(RETURN, ERRNO | ENOSYS)]  # its flags cannot be seen; libc falls back
    code += [_step(EQUAL, clone, 0, 4), _step(LOAD, FIRST), _step(ANY_BIT, NAMESPACES, 0, 1), _step(RETURN, no),
             _step(RETURN, ALLOW)]  # fmt: skip
    families = FAMILIES if devices else ()
    code += [_step(EQUAL, socket, 0, 2 + 2 * len(families)), _step(LOAD, FIRST)]
    for family in families:
        code += [_step(EQUAL, family, 0, 1), _step(RETURN, ALLOW)]
    return [*code, _step(RETURN, no), _step(RETURN, ALLOW)]


def _step(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    """One instruction (struct sock_filter): skip ``then`` instructions where a test holds, else ``otherwise``."""
    return struct.pack("=HBBI", code, then, otherwise, value)
