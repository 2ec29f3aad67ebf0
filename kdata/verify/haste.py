"""Triton's interpreter, hastened: most of its time goes to describing blocks, not to computing. In the host's child.

Each part names what is slow in triton 3.7.1:

- ``_patch_lang`` walks the whole language at every call of a device function (milliseconds each): done once here.
- integer arithmetic is done twice, for an overflow check that nothing looks at, and a table of dtypes is built at each
  look-up.
- the type of a block, and the shape of a tensor as a tuple of constants, are made anew for every value: kept here.
- operands of equal shape are compared element by element in Python before each operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import triton.language as tl
from triton.language import core, semantic
from triton.runtime import interpreter

KEPT = 1 << 12  # shapes


def hasten() -> None:
    """Apply all, once a process."""
    _patch_language_once()
    _skip_overflow_checks()
    _keep_dtypes()
    _keep_block_types()
    _keep_shapes()
    _broadcast_where_needed()


def _patch_language_once() -> None:
    original: Callable[[Any], Any] = vars(interpreter)["_patch_lang"]
    scope: Any = vars(interpreter)["_LangPatchScope"]
    done: set[tuple[int, ...]] = set()

    def patch(function: Any) -> Any:
        spaces = tuple(sorted(id(v) for v in set(_modules(function.__globals__))))
        if spaces not in done:
            done.add(spaces)
            original(function)  # never restored: nothing else runs in this process
            core.tensor.__index__ = _whole_number
        return scope()

    vars(interpreter)["_patch_lang"] = patch


def _whole_number(self: Any) -> int:
    """A block of one element as an integer; that of triton 3.6 asks numpy for what it has refused since 2.4."""
    return int(self.handle.data.item())


def _modules(space: dict[str, Any]) -> list[Any]:
    return [v for v in space.values() if v is tl or v is tl.core]


def _skip_overflow_checks() -> None:
    space = vars(interpreter)
    space["interpreter_builder"].options = space["InterpreterOptions"](sanitize_overflow=False)


def _keep_dtypes() -> None:
    original = vars(interpreter)["_get_np_dtype"]
    known: dict[str, Any] = {}

    def numpy_dtype(dtype: Any) -> Any:
        scalar = dtype.scalar
        if isinstance(scalar, tl.pointer_type):
            return np.dtype(np.uint64)
        if scalar.name not in known:
            known[scalar.name] = original(scalar)
        return known[scalar.name]

    vars(interpreter)["_get_np_dtype"] = numpy_dtype


def _keep_block_types() -> None:
    block_type: Any = core.block_type
    original = block_type.__init__
    known: dict[tuple[Any, ...], tuple[Any, int, str]] = {}

    def init(self: Any, element_ty: Any, shape: Any) -> None:
        key = tuple(s.value if type(s) is core.constexpr else s for s in shape)
        if key not in known:
            original(self, element_ty, shape)
            if len(known) < KEPT:
                known[key] = self.shape, self.numel, str(self.shape)
            return
        self.element_ty = element_ty
        self.shape, self.numel, name = known[key]
        self.name = f"<{name}, {element_ty}>"

    block_type.__init__ = init


@lru_cache(maxsize=KEPT)
def _described(shape: tuple[int, ...]) -> tuple[Any, Any]:
    return core.tuple([core.constexpr(n) for n in shape]), core.constexpr(math.prod(shape))


def _keep_shapes() -> None:
    def init(self: Any, handle: Any, type: Any) -> None:  # noqa: A002 - triton's name for it
        self.handle, self.type, self.dtype = handle, type, type.scalar
        self.shape, self.numel = _described(tuple(type.shape) if type.is_block() else ())

    core.tensor.__init__ = init


def _broadcast_where_needed() -> None:
    space: Any = semantic.TritonSemantic
    original = space.broadcast_impl_value

    def broadcast(self: Any, lhs: Any, rhs: Any) -> Any:
        one, other = lhs.type, rhs.type
        if one.is_block() and other.is_block() and list(one.shape) == list(other.shape):
            return lhs, rhs
        return original(self, lhs, rhs)

    space.broadcast_impl_value = broadcast
