"""Tables of answers, one for each number that there is in half precision, looked up by its bits. In the host's child.

There are 65 536 of them, and torch answers to all at once in a constructor: what is left to a kernel is to look up. Its
second load is then as far from the table's beginning, or its end, as the bits of what the first one gave say. Hardly
any honest kernel of floating numbers does that, for bits are no places (who counts numbers by all of their bits does,
and is refused, too); codes of eight bits and integers are, and tables that the task itself gives are its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from triton.runtime import interpreter

BITS = 16  # of the numbers that are followed: of more there are too many for a table
FEWEST = 12  # numbers that differ, by which chance is ruled out
RECENT = 4  # loads that are remembered
TOLD = "answers in a table, by the bits of numbers"
_recent: deque[np.ndarray[Any, np.dtype[np.int64]]] = deque(maxlen=RECENT)
_given: list[tuple[int, int]] = []  # memory of what the task gives, in pairs of first and last-but-one address
_half = False  # the inputs of so many bits are floating numbers, and there are some
_met = False


def install() -> None:
    """Teach the interpreter, once a process."""
    builder: Any = interpreter.InterpreterBuilder
    load = builder.create_masked_load

    def create_masked_load(self: Any, pointers: Any, mask: Any, *more: Any, **named: Any) -> Any:
        made = load(self, pointers, mask, *more, **named)
        if _half and made.data.size >= FEWEST:
            _look(pointers, mask)
            if pointers.get_element_ty().primitive_bitwidth == BITS:
                _recent.append(made.data.reshape(-1).view(np.int16).astype(np.int64))
        return made

    builder.create_masked_load = create_masked_load


def begin(inputs: Sequence[torch.Tensor], given: Sequence[tuple[int, int]]) -> None:
    """A call begins. ``given``: memory of what the task gives, its inputs and weights."""
    global _half, _met
    kinds = {t.dtype for t in inputs if t.element_size() == BITS // 8}
    own = any(end - start >= 1 << BITS for start, end in given)  # a table of the task's, which may be cast before
    _given[:], _half, _met = given, bool(kinds) and all(k.is_floating_point for k in kinds) and not own, False
    _recent.clear()


def found() -> list[str]:
    """What was found since a call began."""
    return [TOLD] if _met else []


def _look(pointers: Any, mask: Any) -> None:
    global _met
    addresses = pointers.data.reshape(-1).astype(np.int64)
    wanted = np.broadcast_to(mask.data, pointers.data.shape).reshape(-1).astype(bool)
    size = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
    for bits in _recent if not _met else ():
        if bits.size != addresses.size or int(wanted.sum()) < FEWEST:
            continue
        apart = (addresses[wanted] - addresses[wanted][0]) // size
        for value in (bits, bits % (1 << BITS)):  # signed or not
            own = value[wanted] - value[wanted][0]
            if _in_proportion(own, apart) and np.unique(own).size >= FEWEST and not _linear(own):
                _met = not any(start <= addresses[wanted].min() < end for start, end in _given)


def _in_proportion(bits: Any, places: Any) -> bool:
    """Whether places are as far apart as bits are, or so many times as far, or the other way round."""
    at = int(np.argmax(bits != 0))
    return bool(places[at]) and np.array_equal(bits * places[at], places * bits[at])


def _linear(places: Any) -> bool:
    """Whether each is as far from the one before: those of a row are."""
    return bool((np.diff(places, 2) == 0).all())
