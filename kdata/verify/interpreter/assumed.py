"""What a kernel tells the compiler to assume (``tl.assume``) and is not so. In the host's child.

The interpreter raises there, as a wrapper does that refuses a size. On a GPU nothing raises: its code is made for what
was assumed, and gives anything elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from triton.runtime import interpreter

_broken = False


def install() -> None:
    """Teach the interpreter, once a process."""
    builder: Any = interpreter.InterpreterBuilder

    def create_assume(_: Any, condition: Any) -> None:
        global _broken
        _broken = _broken or not np.all(condition.data)

    builder.create_assume = create_assume


def broken() -> bool:
    """Whether anything was assumed that is not so since this was last asked."""
    global _broken
    found, _broken = _broken, False
    return found
