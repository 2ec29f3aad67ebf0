"""What a kernel promises of its numbers and does not keep. In the host's child.

``tl.max_contiguous``, ``tl.multiple_of`` and ``tl.max_constancy`` mean nothing to the interpreter; Triton's compiler
believes them.  So as addresses are made here, what they would be if it were all true is made along with them: by the
promise of an offset, of a pointer, or of a number that is added to offsets that keep it.  Promises of what is
multiplied, compared or given another axis are forgotten, and what is true leaves nothing.

Where both differ, and lanes share an access, a GPU goes where it believes: see ``kdata.verify.interpreter.vectors``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from triton.runtime import interpreter

Array = np.ndarray[Any, np.dtype[Any]]
Believed = tuple[Array, int]  # numbers as they are promised to be, and how many lanes share an access by that
BELIEVED, MULTIPLE, RUN, SAME = "believed", "tt.divisibility", "tt.contiguity", "tt.constancy"
BYTES = 16  # of the widest access


def install() -> None:
    """Teach the interpreter, once a process."""
    builder: Any = interpreter.InterpreterBuilder
    _carry(builder, "create_splat", 1)
    _carry(builder, "create_broadcast", 0)
    _combine(builder, "create_add", MULTIPLE, _keeps_multiple)
    _combine(builder, "create_and", SAME, _keeps_same)
    addptr = builder.create_addptr

    def create_addptr(self: Any, pointer: Any, offset: Any) -> Any:
        result = addptr(self, pointer, offset)
        if pointer.attr or offset.attr:
            size = size_of(pointer)
            base, step = believed(pointer, size, size), believed(offset, size, 1)
            values = base[0] + np.uint64(size) * step[0].astype(np.uint64)
            if (values != result.data).any():
                result.attr[BELIEVED] = values, min(base[1], step[1])
        return result

    builder.create_addptr = create_addptr


def size_of(pointers: Any) -> int:
    """Bytes of what they point to."""
    return max(1, int(pointers.get_element_ty().primitive_bitwidth) // 8)


def in_groups(data: Array, lanes: int) -> Array:
    """Neighbours along the last axis, as rows."""
    return data.reshape(-1, math.gcd(lanes, data.shape[-1]))


def _carry(builder: Any, name: str, given: int) -> None:
    """Let a number that is made a block stay what it was promised to be."""
    original = getattr(builder, name)

    def method(self: Any, *arguments: Any) -> Any:
        result, attr = original(self, *arguments), arguments[given].attr
        if BELIEVED in attr:
            values, lanes = attr[BELIEVED]
            result.attr[BELIEVED] = np.broadcast_to(values, result.data.shape), lanes
        if MULTIPLE in attr and arguments[given].data.size == 1:
            result.attr[MULTIPLE] = attr[MULTIPLE]
        return result

    setattr(builder, name, method)


def _combine(builder: Any, name: str, kind: str, keeps: Any) -> None:
    """Let a promise of one operand hold for the result, where the other operand keeps it."""
    original = getattr(builder, name)

    def method(self: Any, one: Any, other: Any) -> Any:
        result = original(self, one, other)
        if not (one.attr or other.attr):
            return result
        for promised, plain in ((one, other), (other, one)):
            if kind in promised.attr and kind not in plain.attr and keeps(plain.data, promised.attr[kind][-1]):
                result.attr[kind] = promised.attr[kind]
        return result

    setattr(builder, name, method)


def _keeps_multiple(data: Array, multiple: int) -> bool:
    """Whether it is a multiple, as far as an access can tell, or runs of it begin at multiples."""
    multiple = math.gcd(multiple, BYTES)
    if data.size == 1:
        return int(data.item()) % multiple == 0
    groups = in_groups(data, multiple)
    follow = groups[:, :1] + np.arange(groups.shape[1], dtype=data.dtype)
    return bool((groups == follow).all() and not (groups[:, 0] % groups.shape[1]).any())


def _keeps_same(data: Array, lanes: int) -> bool:
    groups = in_groups(data, math.gcd(lanes, BYTES))
    return bool((groups == groups[:, :1]).all())


def believed(handle: Any, size: int, unit: int) -> Believed:
    """Numbers, of which the next is ``unit`` more, as an access of elements of this size takes them to be."""
    attr, full = handle.attr, max(1, BYTES // size)
    values, lanes = attr.get(BELIEVED, (handle.data, full))
    multiple = math.gcd(attr[MULTIPLE][-1], full * unit) if MULTIPLE in attr else 1
    if MULTIPLE in attr:
        lanes = math.gcd(lanes, max(1, multiple // unit))
    if values.size == 1:
        return values - values % multiple, lanes
    if RUN in attr:
        lanes = math.gcd(lanes, attr[RUN][-1])
    elif MULTIPLE not in attr:
        return values, lanes
    groups = in_groups(values, lanes)
    starts = groups[:, :1] - groups[:, :1] % multiple
    steps = np.arange(groups.shape[1], dtype=values.dtype) * unit
    if RUN not in attr and (groups == groups[:, :1]).all():  # a number that was made a block
        steps = np.zeros_like(steps)
    elif RUN not in attr and (groups != groups[:, :1] + steps).any():
        return values, 1  # nothing follows anything, so no access is shared
    return (starts + steps).reshape(values.shape), groups.shape[1]
