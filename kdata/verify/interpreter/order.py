"""In which order programs of a grid, and lanes of a block, have their turn. In the host's child.

The interpreter runs both first to last, and a GPU promises nothing: of lanes that store to one place any may be the
last, and lanes that add to one place find there what those before them have left, whichever these are.  So both orders
are tried.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from triton.runtime import interpreter

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


def _turned(*blocks: Any) -> list[Any]:
    """Blocks with their lanes last to first, where these run so."""
    shape = blocks[0].data.shape
    if not _backwards or blocks[0].data.size < 2:
        return [*blocks]
    kind = vars(interpreter)["TensorHandle"]
    return [kind(np.flip(np.broadcast_to(b.data, shape)).copy(), b.dtype) for b in blocks]
