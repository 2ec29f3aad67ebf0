"""Memory that is free, but still held by the process."""

from __future__ import annotations

import ctypes


def release() -> None:
    """Give the free pages of the C library's heap back to the system, where it can (glibc's ``malloc_trim``).

    The heap keeps what large tensors took, as it is to be taken again: for work on smaller ones that is for nothing.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
