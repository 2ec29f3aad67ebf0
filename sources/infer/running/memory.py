"""Memory that a process does without: what is free but still held, torch's compiler, and what a call may not take."""

from __future__ import annotations

import ctypes
import functools
import gc
import inspect
import os
import resource
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import _compile

RESIDENT = 560_000_000  # bytes in memory of one process
LEAST = 1 << 25  # that one call may take at any rate
_PAGE = resource.getpagesize()

_given_back = 0  # bytes of the heap that were given back to the system so far


class _Heap(ctypes.Structure):
    """What glibc tells of its heap: its ``struct mallinfo2``."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks",
                     "keepcost")
    ]  # fmt: skip


def full(most: int = RESIDENT) -> bool:
    """Whether this process has so many bytes in memory, without those that are free and still held.

    Never where it has no limit of address space: it is no fork of ours then.
    """
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY and _sizes(most)[1] > most


def _sizes(most: int) -> tuple[int, int]:
    """Bytes of this process's addresses, and of what is in memory, shared with its parent or not.

    Where these are more than ``most``, what is free and still held is given back first.
    """
    sizes = _mapped()
    if sizes[1] > most:
        release()
        sizes = _mapped()
    return sizes


def _mapped() -> tuple[int, int]:
    """The sizes as the system tells them: read plainly, a search asks thousands of times."""
    file = os.open("/proc/self/statm", os.O_RDONLY)
    try:
        size, held = os.read(file, 64).split()[:2]
    finally:
        os.close(file)
    return int(size) * _PAGE, int(held) * _PAGE


def release() -> None:
    """Give the free pages of the C library's heap back to the system, where it can (glibc's ``malloc_trim``).

    The heap keeps what large tensors took, as it is to be taken again: for work on smaller ones that is for nothing.
    """
    global _given_back  # of this process, as its heap is
    trim = _of_heap("malloc_trim")
    if trim is not None:
        before = _mapped()[1]
        trim(0)
        _given_back = max(0, _given_back + before - _mapped()[1])


@functools.cache
def _of_heap(name: str) -> Any:
    """A function of the C library; None where it has none of the name."""
    return getattr(ctypes.CDLL(None), name, None)


def _unseen() -> int:
    """Bytes at most that may come into memory without one new address: free parts of the heap that were given back."""
    info = _of_heap("mallinfo2") if _given_back else None
    if info is None:
        return 0
    info.restype = _Heap
    return min(_given_back, int(info().fordblks))


def without_compiler() -> None:
    """Torch's functions that are not to be compiled no longer import the compiler to hear that they are not.

    That takes seconds and a third of the memory that a process takes before its first tensor, and nothing is compiled.
    """
    kept = _compile._disable_dynamo(lambda: None)
    for function in [f for f in gc.get_objects() if type(f) is types.FunctionType and f.__code__ is kept.__code__]:
        plain = inspect.getclosurevars(function).nonlocals["fn"]
        if isinstance(plain, types.FunctionType):
            vars(plain).setdefault("__dynamo_disable", plain)


@contextmanager
def bounded(most: int = RESIDENT) -> Iterator[None]:
    """What runs inside may bring this process to so many bytes in memory, where it has a limit of address space.

    Weights that are large are left as they are while a search lasts: they take addresses and no memory, and so may be
    more than what is computed with them.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        yield
        return
    size, held = _sizes(most - LEAST - _unseen())
    room = max(LEAST, most - held - _unseen())  # what was given back has its addresses still
    resource.setrlimit(resource.RLIMIT_AS, (min(soft, size + room), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
