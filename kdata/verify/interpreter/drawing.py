"""Random numbers of Triton's own, at the ends of what they can be. In the host's child.

A reference that draws nothing is answered by nothing that is drawn. Who zeroes one place of a million by ``tl.rand`` is
right in any trial of fewer; where all that kernels draw is next to the least, or to the largest, it shows. Dropout of
no share keeps everything even there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

# Bits of what is drawn, by which a uniform number is next to zero and next to one, and one of 64 bits, too.
ENDS = {np.dtype(np.uint32): (0x40, 0x7FFFFF00), np.dtype(np.uint64): (0x40 << 32, 0x7FFFFF00 << 32)}
_drew = False  # a kernel has drawn
_end: int | None = None  # which of the ends is drawn, if any


def install() -> None:
    """Once a process."""
    space = vars(tl.random)
    original = space["philox_impl"]

    def philox_impl(*given: Any, **named: Any) -> Any:
        global _drew
        _drew = True
        drawn = original(*given, **named)
        return drawn if _end is None else tuple(_at_end(number, _end) for number in drawn)

    space["philox_impl"] = philox_impl


def ends() -> Iterator[None]:
    """Each of the ends, for as long as it is the last one; none where no kernel has drawn yet."""
    global _end
    for number in (0, 1) if _drew else ():
        _end = number
        try:
            yield
        finally:
            _end = None


def _at_end(drawn: Any, end: int) -> Any:
    data = drawn.handle.data
    handle = vars(interpreter)["TensorHandle"](np.full_like(data, ENDS[data.dtype][end]), drawn.handle.dtype)
    return tl.core.tensor(handle, drawn.type)
