"""Programs of one launch that need each other's results, which a GPU promises nothing about. In the host's child.

The interpreter runs programs, and all lanes of a block, one after another, so that a kernel whose programs add to the
same place without atomics, or hand values on through memory, is right here and wrong on a GPU.  So it is kept who
stored each element last: another program of the same launch (unless the one that loads it has used an atomic, by which
kernels wait for each other), or another lane of the same program with no barrier since, is a race.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from triton.runtime import interpreter

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(slots=True)
class Shadow:
    """Who stored what in one range of memory, element by element."""

    first: int
    size: int  # bytes of an element
    times: Array  # of the store, 0: never
    lanes: Array  # of the block that was stored
    turns: Array  # of a pipelined loop in which it was stored, 0: none
    blocks: set[int]  # sizes of the blocks that were stored

    @staticmethod
    def of(first: int, end: int, size: int) -> Shadow:
        """Of a range that nothing was stored in yet."""
        elements = (end - first) // size + 1
        times, lanes, turns = (np.zeros(elements, kind) for kind in (np.int64, np.int32, np.int32))
        return Shadow(first, size, times, lanes, turns, set())


@dataclass(slots=True)
class Record:
    """The running launch."""

    shadows: dict[int, Shadow] = field(default_factory=dict)
    now: int = 1  # counts programs and barriers
    begun: int = 1  # ``now`` when the running program began
    waited: bool = False  # the running program has used an atomic
    turn: int = 0  # counts turns of pipelined loops
    flying: int = 0  # the first turn of the running loop whose stores a later turn's loads may come before; 0: none
    found: str = ""

    def launch(self) -> None:
        """A launch begins: all that came before is settled."""
        self.shadows.clear()
        self.program()

    def program(self) -> None:
        """A program begins."""
        self.now += 1
        self.begun, self.waited, self.flying = self.now, False, 0

    def barrier(self) -> None:
        """What the running program stored is there for all its lanes."""
        self.now += 1

    def stores(self, addresses: Array, mask: Array, size: int, ranges: Sequence[tuple[int, int]]) -> None:
        """The running program stores a block."""
        places, lanes = _active(addresses, mask)
        for first, end in ranges:
            inside = (places >= first) & (places < end)
            if not inside.any():
                continue
            if first not in self.shadows:
                self.shadows[first] = Shadow.of(first, end, size)
            shadow = self.shadows[first]
            where = (places[inside] - first) // shadow.size
            shadow.times[where], shadow.lanes[where] = self.now, lanes[inside]
            shadow.turns[where] = self.turn if self.flying else 0
            shadow.blocks.add(mask.size)
            if inside.all():
                return

    def loads(self, addresses: Array, mask: Array) -> None:
        """The running program loads a block."""
        if not self.shadows or self.found:
            return
        places, lanes = _active(addresses, mask)
        for shadow in self.shadows.values():
            where = (places - shadow.first) // shadow.size
            inside = (where >= 0) & (where < len(shadow.times))
            times, given = shadow.times[where[inside]], shadow.lanes[where[inside]]
            if not self.waited and ((times > 0) & (times < self.begun)).any():
                self.found = "a program loads what another one of the same launch has stored"
            elif shadow.blocks == {mask.size} and ((times == self.now) & (given != lanes[inside])).any():
                self.found = "a program loads what other lanes of it have stored, with no barrier between"
            elif self.flying and mask.size > 1:  # what is loaded alone is not loaded ahead
                stored = shadow.turns[where[inside]]
                if ((stored >= self.flying) & (stored < self.turn)).any():
                    self.found = "a pipelined loop loads what one of its last turns has stored"


def _active(addresses: Array, mask: Array) -> tuple[Array, Array]:
    """The addresses that are wanted, and their lanes."""
    lanes = np.flatnonzero(np.broadcast_to(mask, addresses.shape))
    return addresses.reshape(-1)[lanes].astype(np.int64), lanes


_record = Record()


def found() -> str:
    """The first race since this was last asked, "" if there was none."""
    race, _record.found = _record.found, ""
    return race


def turns(numbers: Iterator[Any], stages: int) -> Iterator[Any]:
    """The turns of a loop, of which the compiler lets so many ``stages`` load ahead: in innermost loops only."""
    _record.flying, first = 0, _record.turn + 1
    for number in numbers:
        if stages > 1:
            _record.turn += 1
            _record.flying = max(first, _record.turn - stages + 1)
        yield number
    _record.flying = 0


def watch(ranges: list[tuple[int, int]]) -> None:
    """Listen to the interpreter; once a process. ``ranges``: the memory of the running launch, kept current."""
    builder: Any = interpreter.InterpreterBuilder
    grid, step, barrier = builder.set_grid_dim, builder.set_grid_idx, builder.create_barrier
    load, store = builder.create_masked_load, builder.create_masked_store

    def set_grid_dim(self: Any, *sizes: Any) -> None:
        _record.launch()
        grid(self, *sizes)

    def set_grid_idx(self: Any, *place: int) -> None:
        _record.program()
        step(self, *place)

    def create_barrier(self: Any) -> Any:
        _record.barrier()
        return barrier(self)

    def create_masked_load(self: Any, pointers: Any, mask: Any, *more: Any, **named: Any) -> Any:
        _record.waited = _record.waited or more[-1] is True  # volatile: it waits for a flag
        _record.loads(pointers.data, mask.data)
        return load(self, pointers, mask, *more, **named)

    def create_masked_store(self: Any, pointers: Any, value: Any, mask: Any, *more: Any, **named: Any) -> Any:
        size = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
        _record.stores(pointers.data, mask.data, size, ranges)
        return store(self, pointers, value, mask, *more, **named)

    builder.set_grid_dim, builder.set_grid_idx, builder.create_barrier = set_grid_dim, set_grid_idx, create_barrier
    builder.create_masked_load, builder.create_masked_store = create_masked_load, create_masked_store
    for name in ("create_atomic_rmw", "create_atomic_cas"):
        _waits(builder, name)


def _waits(builder: Any, name: str) -> None:
    original = getattr(builder, name)

    def method(self: Any, *arguments: Any) -> Any:
        _record.waited = True
        return original(self, *arguments)

    setattr(builder, name, method)
