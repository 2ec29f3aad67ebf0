"""Triton's interpreter, hastened: most of its time goes to describing blocks, not to computing. In the host's child.

Each part names what is slow in triton 3.7.1:

- ``_patch_lang`` walks the whole language at every call of a device function (milliseconds each): done once here.
- integer arithmetic is done twice, for an overflow check that nothing looks at, and a table of dtypes is built at each
  look-up.
- the type of a block, and the shape of a tensor as a tuple of constants, are made anew for every value: kept here.
- operands are made alike in a dozen steps at each operation, and shapes compared element by element in Python: one step
  here where they are of one type, and none where they are of one shape. Sums and products ask of what kind their types
  are by half a dozen methods: by name here.
- each function of the language is called through two others, and each value's size is looked at twice.
- what is loaded without a mask is loaded with one, and with numbers for what it leaves out, both made anew: kept here.
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
COPIED = 1 << 14  # elements up to which a block that is spread is a copy: numpy takes longer to make it a view
HALVES = frozenset({"fp16", "bf16"})
FLOATS = HALVES | {"fp32", "fp64"}
LIMITS = {f"int{n}": (-(1 << n - 1), (1 << n - 1) - 1) for n in (8, 16, 32, 64)} | {
    f"uint{n}": (0, (1 << n) - 1) for n in (8, 16, 32, 64)
}
LONG, EMPTY = LIMITS["int64"], (0, -1)
PLAIN = FLOATS | LIMITS.keys() | {"int1"}  # beside its like such a type stays what it is
EXACT = PLAIN - HALVES  # and where it is divided


def hasten() -> None:
    """Apply all, once a process."""
    _patch_language_once()
    _skip_overflow_checks()
    _keep_dtypes()
    _keep_block_types()
    _keep_shapes()
    _broadcast_where_needed()
    _check_types_where_needed()
    _fill_at_once()
    _call_at_once()
    _look_once()
    _load_at_once()
    _compute_at_once()


def _patch_language_once() -> None:
    original: Callable[[Any], Any] = vars(interpreter)["_patch_lang"]
    scope: Any = vars(interpreter)["_LangPatchScope"]
    done: set[int] = set()  # by module: names that are patched twice look as if a candidate had changed them

    def patch(function: Any) -> Any:
        spaces = {id(v) for v in _modules(function.__globals__)}
        if not spaces <= done:
            done.update(spaces)
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
        self.extent = key
        if key not in known:
            original(self, element_ty, shape)
            if len(known) < KEPT:
                known[key] = self.shape, self.numel, str(self.shape)
            return
        self.element_ty = element_ty
        self.shape, self.numel, name = known[key]
        self.name = f"<{name}, {element_ty}>"

    core.dtype.extent = ()  # of a scalar
    block_type.__init__ = init
    block_type.with_element_ty = lambda self, element_ty: _block(element_ty, self.extent)


def _block(element_ty: Any, extent: tuple[int, ...]) -> Any:
    """The type of a block, made once for each type of its elements."""
    known: dict[tuple[int, ...], Any] = element_ty.__dict__.setdefault("blocks", {})
    found = known.get(extent)
    if found is None:
        found = known[extent] = core.block_type(element_ty, list(extent))
    return found


@lru_cache(maxsize=KEPT)
def _described(shape: tuple[int, ...]) -> tuple[Any, Any]:
    return core.tuple([core.constexpr(n) for n in shape]), core.constexpr(math.prod(shape))


def _keep_shapes() -> None:
    def init(self: Any, handle: Any, type: Any) -> None:  # noqa: A002 - triton's name for it
        self.handle, self.type, self.dtype = handle, type, type.element_ty if type.extent else type
        self.shape, self.numel = _described(type.extent)

    core.tensor.__init__ = init


@lru_cache(maxsize=KEPT)
def _joined(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that two shapes of equal rank broadcast to; None where they do not."""
    pairs = list(zip(one, other, strict=True))
    return tuple(b if a == 1 else a for a, b in pairs) if all(a == b or 1 in (a, b) for a, b in pairs) else None


def _broadcast_where_needed() -> None:
    space: Any = semantic.TritonSemantic
    original = space.broadcast_impl_value

    def broadcast(self: Any, lhs: Any, rhs: Any) -> Any:
        one, other = lhs.type.extent, rhs.type.extent
        if one == other:
            return lhs, rhs
        if not other:
            return lhs, filled(self, rhs, one)
        if not one:
            return filled(self, lhs, other), rhs
        shape = _joined(one, other) if len(one) == len(other) else None
        if shape is None:
            return original(self, lhs, rhs)
        return lhs if one == shape else spread(self, lhs, shape), rhs if other == shape else spread(self, rhs, shape)

    def filled(self: Any, value: Any, shape: tuple[int, ...]) -> Any:
        kind = _block(value.dtype, shape)
        return core.tensor(self.builder.create_splat(kind, value.handle), kind)

    def spread(self: Any, value: Any, shape: tuple[int, ...]) -> Any:
        return core.tensor(self.builder.create_broadcast(value.handle, shape), _block(value.dtype, shape))

    space.broadcast_impl_value = broadcast


def _check_types_where_needed() -> None:
    space: Any = semantic.TritonSemantic
    original = space.binary_op_type_checking_impl
    tensor, pointer = core.tensor, core.pointer_type

    def checked(
        self: Any, lhs: Any, rhs: Any, allow_lhs_ptr: bool = False, allow_rhs_ptr: bool = False,
        arithmetic_check: bool = True, div_or_mod: bool = False,
    ) -> Any:  # fmt: skip
        one, other = type(lhs), type(rhs)
        if one is tensor and other is tensor:
            left, right = lhs.dtype, rhs.dtype
            alike = left is right and left.name in (EXACT if div_or_mod else PLAIN)
            if alike or (allow_lhs_ptr and type(left) is pointer and right.name in LIMITS):
                return self.broadcast_impl_value(lhs, rhs)
        elif arithmetic_check and one is tensor and _stays(lhs.dtype.name, rhs, div_or_mod):
            return self.broadcast_impl_value(lhs, self.scalar_constant(rhs, lhs.dtype))
        elif arithmetic_check and other is tensor and _stays(rhs.dtype.name, lhs, div_or_mod):
            return self.broadcast_impl_value(self.scalar_constant(lhs, rhs.dtype), rhs)
        return original(self, lhs, rhs, allow_lhs_ptr, allow_rhs_ptr, arithmetic_check, div_or_mod)

    space.binary_op_type_checking_impl = checked


def _stays(name: str, number: Any, div_or_mod: bool) -> bool:
    """Whether a tensor beside this number keeps its type, which the number takes on."""
    kind = type(number)
    if kind is int:
        low, high = LIMITS.get(name) or (LONG if name in FLOATS else EMPTY)
        return low <= number <= high and not (div_or_mod and name in HALVES)
    return kind is float and name in FLOATS and not (div_or_mod and name in HALVES)


def _fill_at_once() -> None:
    builder: Any = interpreter.InterpreterBuilder
    handle, numpy_dtype = interpreter.TensorHandle, vars(interpreter)["_get_np_dtype"]
    splat, broadcast = builder.create_splat, builder.create_broadcast

    def create_splat(self: Any, kind: Any, value: Any) -> Any:
        if isinstance(value.dtype, core.block_type):
            return splat(self, kind, value)
        data = np.empty(kind.extent, numpy_dtype(value.dtype))
        data[...] = value.data
        return handle(data, value.dtype.scalar)

    def create_broadcast(self: Any, value: Any, shape: Any) -> Any:
        if math.prod(shape) > COPIED:
            return broadcast(self, value, shape)
        data = np.empty(shape, value.data.dtype)
        data[...] = value.data
        return handle(data, value.dtype.scalar)

    builder.create_splat, builder.create_broadcast = create_splat, create_broadcast


def _call_at_once() -> None:
    """A function of the language without the one around it that asks for ``_semantic``; numbers as they are."""
    between = core.builtin(lambda: None).__code__
    unwrap, equal = vars(core)["_unwrap_if_constexpr"], core.dtype.__eq__

    def patch(space: Any, name: str, member: Any, _builder: Any, scope: Any) -> None:
        function, meaning = member, vars(interpreter)["interpreter_semantic"]
        if getattr(member, "__code__", None) is between:
            function = member.__wrapped__

        def call(*arguments: Any, **named: Any) -> Any:
            named["_semantic"] = meaning
            return function(*arguments, **named)

        scope.set_attr(space, name, call)

    def unwrap_number(value: Any) -> Any:
        kind = type(value)
        if kind is core.tensor or kind is int or kind is float:
            return value
        return value.value if kind is core.constexpr else unwrap(value)

    vars(interpreter)["_patch_attr"] = patch
    vars(core)["_unwrap_if_constexpr"] = unwrap_number
    core.dtype.__eq__ = lambda self, other: self is other or equal(self, other)


def _look_once() -> None:
    handle: Any = interpreter.TensorHandle
    refuse = handle.__post_init__

    def fits(data: Any, dtype: Any) -> bool:
        return type(dtype) is core.pointer_type or data.itemsize * 8 <= max(8, dtype.primitive_bitwidth)

    def init(self: Any, data: Any, dtype: Any, attr: Any = None) -> None:
        self.data, self.dtype, self.attr = data, dtype, {} if attr is None else attr
        if not fits(data, dtype):
            refuse(self)

    vars(interpreter)["_validate_np_data_size"] = fits
    handle.__init__ = init


def _load_at_once() -> None:
    builder: Any = interpreter.InterpreterBuilder
    original, handle = builder.create_load, interpreter.TensorHandle

    @lru_cache(maxsize=KEPT)
    def all_of(extent: tuple[int, ...]) -> Any:
        mask = np.ones(extent, bool)
        mask.flags.writeable = False
        return mask

    def create_load(self: Any, pointers: Any, *more: Any) -> Any:
        if pointers.data.size > COPIED:
            return original(self, pointers, *more)
        return self.create_masked_load(pointers, handle(all_of(pointers.data.shape), tl.int1), None, *more)

    builder.create_load = create_load


def _compute_at_once() -> None:
    space: Any = semantic.TritonSemantic
    tensor, pointer = core.tensor, core.pointer_type
    signed = {name for name in LIMITS if name.startswith("int")}

    def add(self: Any, one: Any, other: Any, sanitize_overflow: bool) -> Any:
        one, other = self.binary_op_type_checking_impl(one, other, True, True)
        name, added = one.dtype.name, other.dtype.name
        if name in FLOATS:
            return tensor(self.builder.create_fadd(one.handle, other.handle), one.type)
        if type(one.dtype) is pointer and added in signed:
            return tensor(self.builder.create_addptr(one.handle, other.handle), one.type)
        if name in LIMITS and added == name:
            return tensor(self.builder.create_add(one.handle, other.handle), one.type)
        return adds(self, one, other, sanitize_overflow)

    def mul(self: Any, one: Any, other: Any, sanitize_overflow: bool) -> Any:
        one, other = self.binary_op_type_checking_impl(one, other)
        name = one.dtype.name
        if name in FLOATS:
            return tensor(self.builder.create_fmul(one.handle, other.handle), one.type)
        if name in LIMITS:
            return tensor(self.builder.create_mul(one.handle, other.handle), one.type)
        return multiplies(self, one, other, sanitize_overflow)

    adds, multiplies = space.add, space.mul
    space.add, space.mul = add, mul
