"""In which order programs of a grid, and lanes of a block, have their turn. In the host's child.

The interpreter runs both first to last, and a GPU promises nothing: of lanes that store to one place any may be the
last, and lanes that add to one place find there what those before them have left, whichever these are.  So both orders
are tried.

What ``can_reorder`` leaves open is kept in order by the interpreter, and by a GPU where that costs nothing: it is in
another order here, the same for all blocks of a size, and its own inverse, for a block that goes there and back.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from triton.runtime import interpreter

Array = np.ndarray[Any, np.dtype[Any]]
_backwards = False  # programs and lanes run last to first
_waiting = False  # kernels of this process wait for other programs, so an order is theirs to ask for


def turn_round(backwards: bool) -> None:
    """Whether they run last to first from here on. Programs that wait for each other keep their order."""
    global _backwards
    _backwards = backwards


def install() -> None:
    """Teach the interpreter, once a process, before others listen to what its kernels store."""
    builder: Any = interpreter.InterpreterBuilder
    step, cas, load = builder.set_grid_idx, builder.create_atomic_cas, builder.create_masked_load
    store, rmw = builder.create_masked_store, builder.create_atomic_rmw

    def set_grid_idx(self: Any, x: int, y: int, z: int) -> None:
        if _backwards and not _waiting:
            x, y, z = (n - 1 - i for n, i in zip(self.grid_dim, (x, y, z), strict=True))
        step(self, x, y, z)

    def create_atomic_cas(self: Any, *arguments: Any) -> Any:
        global _waiting
        _waiting = True
        return cas(self, *arguments)

    def create_masked_load(self: Any, *arguments: Any, **named: Any) -> Any:
        global _waiting
        _waiting = _waiting or arguments[-1] is True  # volatile: it waits for another program's flag
        return load(self, *arguments, **named)

    def create_masked_store(self: Any, pointers: Any, value: Any, mask: Any, *more: Any, **named: Any) -> Any:
        return store(self, *_turned(pointers, value, mask), *more, **named)

    def create_atomic_rmw(self: Any, operator: Any, pointers: Any, value: Any, mask: Any, *more: Any) -> Any:
        (found,) = _turned(rmw(self, operator, *_turned(pointers, value, mask), *more))
        return found

    builder.set_grid_idx, builder.create_atomic_cas = set_grid_idx, create_atomic_cas
    builder.create_masked_load, builder.create_masked_store = create_masked_load, create_masked_store
    builder.create_atomic_rmw = create_atomic_rmw
    _reorder(builder)


def _reorder(builder: Any) -> None:
    reshape, cat = builder.create_reshape, builder.create_cat
    kind = vars(interpreter)["TensorHandle"]

    def create_reshape(self: Any, value: Any, shape: Any, allow_reorder: bool) -> Any:
        extents = [[n for n in s if n != 1] for s in (value.data.shape, tuple(shape))]
        if allow_reorder and extents[0] != extents[1]:
            value = kind(_mixed(value.data), value.dtype)
        return reshape(self, value, shape, allow_reorder)

    def create_cat(self: Any, one: Any, other: Any) -> Any:  # of blocks that are to keep their order, it is not asked
        joined = cat(self, one, other)
        return kind(_mixed(joined.data), joined.dtype)

    builder.create_reshape, builder.create_cat = create_reshape, create_cat


def _mixed(data: Array) -> Array:
    if data.size <= 2 or data.size & (data.size - 1):  # blocks of other sizes than powers of two are no compiler's
        return data
    return data.reshape(-1)[_places(data.size)].reshape(data.shape)


@lru_cache(maxsize=64)
def _places(count: int) -> Array:
    """Each place's digits read backwards, and turned: neighbours are far apart, and nothing stays."""
    digits = count.bit_length() - 1
    return np.array([int(f"{place ^ (count - 1):0{digits}b}"[::-1], 2) for place in range(count)])


def _turned(*blocks: Any) -> list[Any]:
    """Blocks with their lanes last to first, where these run so."""
    shape = blocks[0].data.shape
    if not _backwards or blocks[0].data.size < 2:
        return [*blocks]
    kind = vars(interpreter)["TensorHandle"]
    return [kind(np.flip(np.broadcast_to(b.data, shape)).copy(), b.dtype) for b in blocks]
