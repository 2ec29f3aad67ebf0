"""Places beyond what a block has: of ``tl.gather``, and of ``tl.histogram``. In the host's child.

Of neither the language says what comes of them.  For numpy -1 is the last place, and a number that no bin is for is
left out, except that of the number of bins, which is in the last one.  A GPU reads what lies elsewhere, and takes the
lower bits of what it counts.  Lanes that a mask leaves out, or a choice, may hold anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter


def install() -> None:
    """Teach the interpreter, once a process."""
    builder: Any = interpreter.InterpreterBuilder
    handle = vars(interpreter)["TensorHandle"]

    def create_gather(self: Any, source: Any, places: Any, axis: int) -> Any:
        size = source.data.shape[axis]
        taken = np.take_along_axis(source.data, places.data % size, axis=axis)
        beyond = (places.data < 0) | (places.data >= size)
        if beyond.any():
            taken = np.where(beyond, _unlike(taken), taken)
        return handle(taken, source.dtype.scalar)

    def create_histogram(self: Any, data: Any, bins: int, mask: Any) -> Any:
        counted = data.data if mask is None else data.data[np.broadcast_to(mask.data, data.data.shape)]
        counts = np.bincount(counted.astype(np.int64).reshape(-1) % bins, minlength=bins)
        return handle(counts.astype(np.int32), tl.int32)

    builder.create_gather, builder.create_histogram = create_gather, create_histogram


def _unlike(values: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[Any]]:
    """Values of the same type, each bit turned round."""
    same = np.ascontiguousarray(values)
    turned: np.ndarray[Any, np.dtype[Any]]
    turned = ~same if same.dtype.kind in "iub" else (~same.view(f"u{same.dtype.itemsize}")).view(same.dtype)
    return turned
