"""Shifts by as many bits as an integer has, or more, or by less than none. In the host's child.

The language promises nothing of them: NVIDIA's GPUs give zero, AMD's shift by the remainder, what a compiler knows it
may take for anything, and the interpreter gives what the host's CPU does.  Here they give the bits that are least like
either: what was shifted, each bit turned round.  Lanes that a mask leaves out, or a choice, may hold that, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from triton.runtime import interpreter


def install() -> None:
    """Teach the interpreter, once a process."""
    builder: Any = interpreter.InterpreterBuilder
    for name in ("create_shl", "create_lshr", "create_ashr"):
        setattr(builder, name, _kept_within(getattr(builder, name)))


def _kept_within(shift: Any) -> Any:
    kind = vars(interpreter)["TensorHandle"]

    def method(self: Any, value: Any, by: Any) -> Any:
        result = shift(self, value, by)
        bits = max(1, value.dtype.scalar.primitive_bitwidth)
        beyond = (by.data < 0) | (by.data >= bits)
        if not beyond.any():
            return result
        return kind(np.where(beyond, ~value.data, result.data).astype(result.data.dtype), result.dtype)

    return method
