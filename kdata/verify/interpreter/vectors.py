"""Accesses that neighbouring lanes share, on the word of what was promised. In the host's child.

Compiled for a GPU, neighbours share one access of up to 16 bytes: it begins where the first of them begins, and all of
them have it, or none.  So it is here, where a promise (``kdata.verify.interpreter.promised``) is false and matters:
where by it the addresses of all such groups follow one another and begin at multiples of their bytes, and no mask parts
a group that is not promised to have one.  Groups that would be outside of the memory that the kernel was given stay as
they are, for honest kernels promise that ``x % n`` is contiguous and drop what is wrapped round; but not where it is a
store's mask that is said to hold for all of a group, and does not.  An access that is not
aligned, at which a GPU ends the kernel, begins at the multiple before it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from triton.runtime import interpreter

from kdata.verify.interpreter.promised import SAME, Array, believed, in_groups, size_of


def share(ranges: Sequence[tuple[int, int]]) -> None:
    """Teach the interpreter, once a process, after all that listens to loads and stores; within these ranges."""
    builder: Any = interpreter.InterpreterBuilder
    load, store = builder.create_masked_load, builder.create_masked_store

    def create_masked_load(self: Any, pointers: Any, mask: Any, *more: Any, **named: Any) -> Any:
        pointers, mask = _accessed(pointers, mask, ranges)
        return load(self, pointers, mask, *more, **named)

    def create_masked_store(self: Any, pointers: Any, value: Any, mask: Any, *more: Any, **named: Any) -> Any:
        pointers, mask = _accessed(pointers, mask, ranges, beyond=True)
        return store(self, pointers, value, mask, *more, **named)

    builder.create_masked_load, builder.create_masked_store = create_masked_load, create_masked_store


def _accessed(
    pointers: Any, mask: Any, ranges: Sequence[tuple[int, int]], beyond: bool = False
) -> tuple[Any, Any]:  # fmt: skip
    """The pointers and the mask of an access as a GPU has them; with ``beyond`` a mask's false word leads outside."""
    if pointers.data.size == 1 or not (pointers.attr or SAME in mask.attr):
        return pointers, mask
    kind, size, shape = vars(interpreter)["TensorHandle"], size_of(pointers), pointers.data.shape
    values, lanes = believed(pointers, size, size)
    if SAME in mask.attr:
        lanes = math.gcd(lanes, mask.attr[SAME][-1])
    groups, own = in_groups(values, lanes), in_groups(pointers.data, lanes)
    wanted = in_groups(np.broadcast_to(mask.data, shape), lanes)
    first = wanted[:, :1]
    if not (SAME in mask.attr or (wanted == first).all()) or not _shared(groups[first[:, 0]], size):
        return pointers, mask
    parted = beyond & (wanted != first).any(1)  # the first lane's mask holds for all of them
    taken = first & (_inside(groups, size, ranges) | parted)[:, None]
    addresses, wanted = np.where(taken, groups, own), np.where(first, wanted | taken, first)
    return kind(addresses.reshape(shape), pointers.dtype), kind(wanted.reshape(shape), mask.dtype)


def _shared(groups: Array, size: int) -> bool:
    """Whether one access serves each of these groups of addresses."""
    count = groups.shape[1]
    follow = groups[:, :1] + np.arange(count, dtype=np.uint64) * np.uint64(size)
    return count > 1 and bool((groups == follow).all()) and not (groups[:, 0] % (count * size)).any()


def _inside(groups: Array, size: int, ranges: Sequence[tuple[int, int]]) -> Array:
    """Which groups lie in one of the ranges."""
    right = np.zeros(len(groups), bool)
    for first, end in ranges:
        right |= (groups[:, 0] >= first) & (groups[:, -1] + np.uint64(size) <= end)
    return right
