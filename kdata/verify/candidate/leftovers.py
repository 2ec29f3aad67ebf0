"""What calls leave in tensors that a candidate keeps, put back part by part. In the host's child.

A workspace is written before it is read: whatever an earlier call left there, in one of them or in all, the answer is
the same.  Not so where one holds an answer and another by which its question is known, be it a sum of all that a kernel
was given: with one as it was two calls ago the answer is that of other inputs.  Which of them lie in memory that every
call takes anew does not matter: they are known by their places among what is kept.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from kdata.verify.candidate import sowing
from kdata.verify.exchange.guards import storage_of

MOST = 4  # pieces of memory that are put back, each by itself; of more half of them at a time
LONGEST = 1 << 28  # bytes of all of them
ALIGNED = 8  # bytes of the largest number


@dataclass(frozen=True, slots=True)
class Piece:
    """Memory that a candidate keeps, and what stood there."""

    memory: torch.Tensor
    content: torch.Tensor


Left = list[Piece]  # in the order in which they are found


class Calls(sowing.Calls, Protocol):
    """Likewise, where tensors may be kept from one to the next."""

    def left(self) -> Left:
        """What stands now in tensors that the candidate keeps."""


def left(kept: Sequence[torch.Tensor], apart: Sequence[torch.Tensor]) -> Left:
    """What stands in the memory of tensors now, but for memory that they share with those that are ``apart``."""
    seen = {storage_of(t).data_ptr() for t in apart if t.layout is torch.strided}
    found: Left = []
    room = LONGEST
    for tensor in kept:
        storage = storage_of(tensor)
        at, size = storage.data_ptr(), storage.nbytes()
        if 0 < size <= room and at not in seen:
            memory = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)  # holds it, too
            found.append(Piece(memory, memory.clone()))
            seen.add(at)
            room -= size
    return found


def mixed(
    calls: Calls,
    before: Left,
    trials: Sequence[tuple[int, dict[str, Any]]],
    move: Callable[[], AbstractContextManager[Any]],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Trials called once more with a part of what is kept as it was ``before``: the number, and the report.

    Only what the calls between have changed counts, for that depends on what they were given: of each piece of memory
    all of that, and either half, as an answer and its question may share one.  Of many pieces so many at a time that of
    any two each is once put back without the other.
    """
    last, now = calls.last, calls.left()
    changed = [(old, new) for old, new in _paired(before, now) if not torch.equal(old.content, new.content)]
    held = now
    for group, part in _groups(len(changed)) if last is not None else ():
        chosen = [changed[n] for n in group]
        parts = [(old, new, _parts(old.content, new.content)[part:][:1]) for old, new in chosen]
        if not any(spans for *_, spans in parts):
            continue
        for number, given in trials:
            with move():
                places = _put([new for _, new in changed], now, held)
                for old, new, spans in parts:
                    for start, end in spans if id(new) in places else ():
                        places[id(new)].memory[start:end].copy_(old.content[start:end])
            yield number, calls.trial(given | {"again": True, "sized": True})
            held = calls.left() if calls.last is not None else held  # memory that this call may have taken anew
            calls.last = last
    with move():
        _put([new for _, new in changed], now, held)


def _paired(before: Left, now: Left) -> Iterator[tuple[Piece, Piece]]:
    """Pieces of one memory, and of the others those of as many bytes, in order."""
    stay = {piece.memory.data_ptr(): piece for piece in before}
    taken = {piece.memory.data_ptr() for piece in now}
    others = defaultdict[int, deque[Piece]](deque)
    for piece in before:
        if piece.memory.data_ptr() not in taken:
            others[piece.memory.numel()].append(piece)
    for piece in now:
        old, alike = stay.get(piece.memory.data_ptr()), others[piece.memory.numel()]
        if old is None and alike:
            old = alike.popleft()
        if old is not None:
            yield old, piece


def _groups(count: int) -> Iterator[tuple[list[int], int]]:
    """Which of so many pieces are put back together, and what of each: all, its first half, or its second."""
    everything = [*range(count)]
    if count <= MOST:
        yield from (([number], part) for number in everything for part in range(3))
        return
    for bit in range((count - 1).bit_length()):
        for side in (0, 1):
            yield [number for number in everything if number >> bit & 1 == side], 0
    yield from ((everything, part) for part in (1, 2))


def _parts(old: torch.Tensor, new: torch.Tensor) -> list[tuple[int, int]]:
    """First byte and the one past the last of what differs, and of both halves of that where it is no single number."""
    places = (old != new).nonzero()
    start, end = int(places[0]) // ALIGNED * ALIGNED, int(places[-1]) // ALIGNED * ALIGNED + ALIGNED
    middle = (start + end) // 2 // ALIGNED * ALIGNED
    return [(start, end), *([(start, middle), (middle, end)] if start < middle else [])]


def _put(pieces: Sequence[Piece], now: Left, held: Left) -> dict[int, Piece]:
    """Let each piece hold what it held, wherever it lies by then: which of ``held`` stands for which of ``now``."""
    places = {id(old): there for old, there in _paired(now, held)}
    for piece in pieces:
        if id(piece) in places:
            places[id(piece)].memory.copy_(piece.content)
    return places
