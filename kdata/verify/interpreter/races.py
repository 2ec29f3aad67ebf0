"""Programs of one launch that need each other's results, which a GPU promises nothing about. In the host's child.

The interpreter runs programs, and all lanes of a block, one after another, so that a kernel whose programs add to the
same place without atomics, or hand values on through memory, is right here and wrong on a GPU.  So it is kept who
stored each element last: another program of the same launch (unless the one that loads it has used an atomic, by which
kernels wait for each other, and the one that stored it has not done so without releasing it since), or another lane of
the same program with no barrier since, is a race.  A launch with ``launch_pdl`` may begin before
the one before it has ended: for it that one's programs are others of the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from triton._C.libtriton import ir
from triton.runtime import interpreter

Array = np.ndarray[Any, np.dtype[Any]]
RELEASING = ir.MEM_SEMANTIC.ACQUIRE_RELEASE, ir.MEM_SEMANTIC.RELEASE


@dataclass(slots=True)
class Shadow:
    """Who stored what in one range of memory, element by element."""

    first: int
    size: int  # bytes of an element
    times: Array  # of the store, 0: never
    lanes: Array  # of the block that was stored
    turns: Array  # of a pipelined loop in which it was stored, 0: none
    blocks: Array  # sizes of the blocks that were stored
    clocks: Array  # of the store, see Record.clock

    def holds_none(self, low: int, high: int) -> bool:
        """Whether none of its elements is among these addresses."""
        return high < self.first or low >= self.first + len(self.times) * self.size

    @staticmethod
    def of(first: int, end: int, size: int) -> Shadow:
        """Of a range that nothing was stored in yet."""
        elements = (end - first) // size + 1
        kinds = np.int64, np.int32, np.int32, np.int32, np.int64
        return Shadow(first, size, *(np.zeros(elements, kind) for kind in kinds))


@dataclass(slots=True)
class Record:
    """The running launch."""

    shadows: dict[int, Shadow] = field(default_factory=dict)
    now: int = 1  # counts programs and barriers
    begun: int = 1  # ``now`` when the running program began
    waited: bool = False  # the running program has used an atomic
    turn: int = 0  # counts turns of pipelined loops
    flying: int = 0  # the first turn of the running loop whose stores a later turn's loads may come before; 0: none
    clock: int = 0  # counts stores and atomics
    began: list[int] = field(default_factory=list)  # ``now`` when each program of the launch did
    released: list[int] = field(default_factory=list)  # of each the last atomic that releases; 0: others only, -1: none
    early: bool = False  # the running launch does not wait for what came before it
    found: str = ""

    def launch(self) -> None:
        """A launch begins: all that came before is settled, unless it may begin before that has ended."""
        for kept in () if self.early else (self.shadows, self.began, self.released):
            kept.clear()
        self.program()

    def program(self) -> None:
        """A program begins."""
        self.now += 1
        self.begun, self.waited, self.flying = self.now, False, 0
        self.began.append(self.now)
        self.released.append(-1)

    def barrier(self) -> None:
        """What the running program stored is there for all its lanes."""
        self.now += 1

    def atomic(self, releases: bool) -> None:
        """The running program uses an atomic, which lets others see what it stored before, or does not."""
        self.waited, self.clock = True, self.clock + 1
        self.released[-1] = self.clock if releases else max(0, self.released[-1])

    def stores(self, addresses: Array, mask: Array, size: int, ranges: Sequence[tuple[int, int]]) -> None:
        """The running program stores a block."""
        places, lanes = _active(addresses, mask)
        self.clock += 1
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
            shadow.blocks[where], shadow.clocks[where] = mask.size, self.clock
            if inside.all():
                return

    def alone(self, addresses: Array, mask: Array, size: int, ranges: Sequence[tuple[int, int]]) -> None:
        """The running program uses an atomic that only its own threads take for one."""
        places, _ = _active(addresses, mask)
        for shadow in self.shadows.values():
            where = (places - shadow.first) // shadow.size
            times = shadow.times[where[(where >= 0) & (where < len(shadow.times))]]
            if ((times > 0) & (times < self.begun)).any():
                self.found = self.found or "programs of one launch change the same by atomics of a program's own scope"
        self.stores(addresses, mask, size, ranges)

    def loads(self, addresses: Array, mask: Array) -> None:
        """The running program loads a block."""
        if not self.shadows or self.found or not addresses.size:
            return
        low, high = int(addresses.min()), int(addresses.max())
        near = [shadow for shadow in self.shadows.values() if not shadow.holds_none(low, high)]
        if not near:  # inputs mostly, in which nothing is stored
            return
        places, lanes = _active(addresses, mask)
        for shadow in near:
            where = (places - shadow.first) // shadow.size
            inside = (where >= 0) & (where < len(shadow.times))
            self.found = self._race(shadow, where[inside], lanes[inside], mask.size)
            if self.found:
                return

    def _race(self, shadow: Shadow, where: Array, lanes: Array, size: int) -> str:
        """How the load of these elements by these lanes of a block of this size races, "" if it does not."""
        times = shadow.times[where]
        others = (times > 0) & (times < self.begun)
        if others.any() and not self.waited:
            which = "an earlier launch has stored, for which its own does not wait (launch_pdl)"
            return f"a program loads what {which if self.early else 'another one of the same launch has stored'}"
        if others.any() and self._kept(shadow, where[others]):
            return "a program loads what another one of the same launch has stored and not released since"
        if ((times == self.now) & (shadow.lanes[where] != lanes) & (shadow.blocks[where] == size)).any():
            return "a program loads what other lanes of it have stored, with no barrier between"
        ahead = self.flying and size > 1  # what is loaded alone is not loaded ahead
        if ahead and ((shadow.turns[where] >= self.flying) & (shadow.turns[where] < self.turn)).any():
            return "a pipelined loop loads what one of its last turns has stored"
        return ""

    def _kept(self, shadow: Shadow, where: Array) -> bool:
        """Whether a program that uses atomics stored one of these after the last one that releases."""
        programs = np.searchsorted(self.began, shadow.times[where], side="right") - 1
        last = np.asarray(self.released)[programs]
        return bool(((last >= 0) & (last < shadow.clocks[where])).any())


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
    executor: Any = vars(interpreter)["GridExecutor"]
    call = executor.__call__

    def called(self: Any, *arguments: Any, **named: Any) -> Any:
        _record.early = bool(named.get("launch_pdl"))
        return call(self, *arguments, **named)

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

    executor.__call__ = called
    builder.set_grid_dim, builder.set_grid_idx, builder.create_barrier = set_grid_dim, set_grid_idx, create_barrier
    builder.create_masked_load, builder.create_masked_store = create_masked_load, create_masked_store
    for name in ("create_atomic_rmw", "create_atomic_cas"):
        _waits(builder, name, ranges)


def _waits(builder: Any, name: str, ranges: list[tuple[int, int]]) -> None:
    original = getattr(builder, name)

    def method(self: Any, *arguments: Any) -> Any:
        if ir.MEM_SYNC_SCOPE.CTA in arguments:  # atomic among the threads of its own program only
            changes = name == "create_atomic_rmw"
            pointers = arguments[1 if changes else 0]
            mask = arguments[3].data if changes else np.ones(pointers.data.shape, bool)
            size = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
            _record.alone(pointers.data, mask, size, ranges)
        else:
            _record.atomic(any(isinstance(a, ir.MEM_SEMANTIC) and a in RELEASING for a in arguments))
        return original(self, *arguments)

    setattr(builder, name, method)
