"""Numbers in fewer bits, held as numpy has no type for them: bfloat16, tf32 and the two float8 of GPUs. In the child.

To nearest, a tie to even, as GPUs convert; what is beyond the largest number of float8 becomes that one, as there, and
what is beyond the ends of an integer becomes these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl

Array = np.ndarray[Any, np.dtype[Any]]
SIGN = np.uint8(0x80)
# Bits of the fraction, bias of the exponent, and the bits of infinity and NaN (the first type has no infinity).
EIGHTS: dict[Any, tuple[int, int, int, int]] = {tl.float8e4nv: (3, 7, 0x7F, 0x7F), tl.float8e5: (2, 15, 0x7C, 0x7F)}


def to_whole(data: Array, name: str) -> Array:
    """Floating numbers to integers of a type of Triton's, toward zero; NaN is 0, 8 bits are the lower ones of 16."""
    kind = np.dtype(name)
    wide = np.dtype(f"{kind.kind}{max(2, kind.itemsize)}")
    least, most = np.iinfo(wide).min, np.iinfo(wide).max
    numbers = np.where(np.isnan(data), 0.0, data.astype(np.float64))
    with np.errstate(invalid="ignore"):
        whole = np.clip(numbers, float(least), float(most)).astype(wide)
    return np.where(numbers >= float(most), wide.type(most), whole).astype(kind)  # for float64 2^63 - 1 is 2^63


def to_bfloat16(data: Array, truncates: bool = False) -> Array:
    """float32 to the bits of bfloat16; NaN stays NaN. ``truncates``: toward zero."""
    bits = np.ascontiguousarray(data, dtype=np.float32).view(np.uint32)
    up = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    rounded = (bits + (np.uint32(0) if truncates else up)) >> np.uint32(16)
    return np.where(np.isnan(data), np.uint32(0x7FC0), rounded).astype(np.uint16)


def from_bfloat16(data: Array) -> Array:
    """The bits of bfloat16 to float32."""
    return (np.ascontiguousarray(data).astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_tf32(data: Array) -> Array:
    """float32 with ten bits of fraction; NaN stays NaN."""
    bits = np.ascontiguousarray(data).view(np.uint32)
    rounded = (bits + np.uint32(0xFFF) + ((bits >> np.uint32(13)) & np.uint32(1))) & np.uint32(0xFFFFE000)
    return np.where(np.isnan(data), data, rounded.view(np.float32))


def to_float8(data: Array, kind: Any) -> Array:
    """Floating numbers to the bits of one of ``EIGHTS``."""
    nan, values = EIGHTS[kind][3], _values(kind)
    size = np.minimum(np.abs(data.astype(np.float64)), values[-1])
    above = np.searchsorted(values, np.nan_to_num(size))
    below = np.maximum(above - 1, 0)
    up, down = values[above] - size, size - values[below]
    nearer = np.where(up == down, np.where(above % 2, below, above), np.where(up < down, above, below))
    bits: Array = np.where(np.isnan(data), nan, nearer).astype(np.uint8)
    return bits | np.where(np.signbit(data), SIGN, np.uint8(0))


def from_float8(data: Array, kind: Any) -> Array:
    """The bits of one of ``EIGHTS`` to float32."""
    infinite, nan, values = *EIGHTS[kind][2:], _values(kind)
    table = np.full(128, np.nan, np.float32)
    table[: len(values)] = values
    if infinite != nan:
        table[infinite] = np.inf
    found: Array = np.where(data & SIGN, -table[data & ~SIGN], table[data & ~SIGN])
    return found


def _values(kind: Any) -> Array:
    """What the bits 0, 1, 2 ... stand for, up to the largest finite number."""
    fraction, bias, infinite, _ = EIGHTS[kind]
    bits = np.arange(infinite)
    exponent = np.maximum(bits >> fraction, 1)
    part = (bits & ((1 << fraction) - 1)) + np.where(bits >> fraction, 1 << fraction, 0)
    values: Array = part * 2.0 ** (exponent - bias - fraction)
    return values
