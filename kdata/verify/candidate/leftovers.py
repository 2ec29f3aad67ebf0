"""What calls leave in tensors that a candidate keeps, put back part by part. In the host's child.

A workspace is written before it is read: whatever an earlier call left there, in one of them or in all, the answer is
the same.  Not so where one holds an answer and another by which its question is known, be it a sum of all that a kernel
was given: with one as it was two calls ago the answer is that of other inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch

from kdata.verify.guards import storage_of

MOST = 4  # pieces of memory that are put back, each by itself
LONGEST = 1 << 28  # bytes of all of them
ALIGNED = 8  # bytes of the largest number
Left = dict[int, tuple[torch.Tensor, torch.Tensor]]  # by address: a piece of memory, and what stood there


class Calls(Protocol):
    """The calls of one candidate, one after another."""

    last: Any  # what the last one leaves for the next one

    def left(self) -> Left:
        """What stands now in tensors that the candidate keeps."""

    def trial(self, given: dict[str, Any]) -> dict[str, Any]:
        """Call once, and report."""


def left(kept: Sequence[torch.Tensor], apart: Sequence[torch.Tensor]) -> Left:
    """What stands in the memory of tensors now, but for memory that they share with those that are ``apart``."""
    others = {storage_of(t).data_ptr() for t in apart if t.layout is torch.strided}
    found: Left = {}
    room = LONGEST
    for tensor in kept:
        storage = storage_of(tensor)
        at, size = storage.data_ptr(), storage.nbytes()
        if 0 < size <= room and at not in others and at not in found:
            piece = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)  # holds the memory, too
            found[at] = piece, piece.clone()
            room -= size
    return found


def mixed(
    calls: Calls,
    before: Left,
    trials: Sequence[tuple[int, dict[str, Any]]],
    move: Callable[[], AbstractContextManager[Any]],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Trials called once more with a part of kept memory as it was ``before``: the number, and the report.

    Only what the calls between have changed counts, for that depends on what they were given: of each piece of memory
    all of that, and either half, as an answer and its question may share one.
    """
    last, now = calls.last, calls.left()
    changed = [at for at in now if at in before and not torch.equal(now[at][1], before[at][1])]
    for at in changed[:MOST] if last is not None else ():
        old, new = before[at][1], now[at][1]
        for start, end in _parts(old, new):
            for number, given in trials:
                with move():
                    _put({place: now[place] for place in changed})
                    now[at][0][start:end].copy_(old[start:end])
                yield number, calls.trial(given | {"again": True, "sized": True})
                calls.last = last
    with move():
        _put({place: now[place] for place in changed})


def _parts(old: torch.Tensor, new: torch.Tensor) -> list[tuple[int, int]]:
    """First byte and the one past the last of what differs, and of both halves of that where it is no single number."""
    places = (old != new).nonzero()
    start, end = int(places[0]) // ALIGNED * ALIGNED, int(places[-1]) // ALIGNED * ALIGNED + ALIGNED
    middle = (start + end) // 2 // ALIGNED * ALIGNED
    return [(start, end), *([(start, middle), (middle, end)] if start < middle else [])]


def _put(held: Left) -> None:
    for piece, content in held.values():
        piece.copy_(content)
