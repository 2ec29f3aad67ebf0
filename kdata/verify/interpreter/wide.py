"""Integers that are of 64 bits, or of one, for Triton's compiler, and what loops count. In the host's child.

- What a loop counts is a number of the language, of 64 bits where one of its bounds is; for Python it is its own, of
  which the interpreter makes 32 bits where it fits.
- Sums, differences and products of conditions are of one bit: two that hold add up to none.  For numpy a sum of them is
  their "or".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

from kdata.verify.interpreter import races

LEAST, MOST = -(1 << 31), (1 << 31) - 1  # of 32 bits


def install() -> None:
    """Teach the interpreter, once a process."""
    _add_bits()


def _add_bits() -> None:
    builder: Any = interpreter.InterpreterBuilder
    handle = vars(interpreter)["TensorHandle"]

    def of_bits(name: str) -> None:
        original = getattr(builder, name)

        def method(self: Any, one: Any, other: Any) -> Any:
            if one.data.dtype == other.data.dtype == np.bool_:
                return handle(np.logical_xor(one.data, other.data), one.dtype.scalar)
            return original(self, one, other)

        setattr(builder, name, method)

    of_bits("create_add")
    of_bits("create_sub")


def counted(*bounds: Any, step: Any = None, num_stages: Any = None) -> Iterator[Any]:
    """What ``range`` of these counts, as numbers of the language; ``num_stages`` turns are on their way at once."""
    bounds = bounds if step is None else (*((0,) if len(bounds) == 1 else ()), *bounds, step)
    steps = range(*bounds)
    wide = any(isinstance(b, tl.core.tensor) and b.dtype.primitive_bitwidth > 32 for b in bounds)
    wide = wide or not all(LEAST <= n <= MOST for n in (steps.start, steps.stop))
    return races.turns((_number(n, wide) for n in steps), int(num_stages or 0))


def _number(value: int, wide: bool) -> Any:
    kind, plain = (tl.int64, np.int64) if wide else (tl.int32, np.int32)
    return tl.core.tensor(vars(interpreter)["TensorHandle"](np.array([value], plain), kind), kind)
