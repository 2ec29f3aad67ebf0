"""Triton's interpreter, mended where it would fail honest kernels. In the host's child.

Each mend names what is wrong in triton 3.7.1's ``triton/runtime/interpreter.py``:

- bfloat16 is held as uint16 and arithmetic works on the bits: computed in float32 here, rounded to nearest even.
- float32 to bfloat16 truncates: rounded to nearest even here; constants in bfloat16 cannot be made: they can here.
- float8 loses what rounding carries into its exponent, ties do not go to even, infinity and NaN become numbers: not so
  here, see ``kdata.verify.interpreter.rounding``.
- ``tl.sum``, ``tl.max`` and ``tl.min`` of bfloat16 take its bits for numbers: they take the numbers here.
- numbers with a fraction stay Python's, so that ``eps.to(tl.float32)`` fails: they are float32 here, as on a GPU; and a
  dtype that is handed to another function is no ``constexpr``: it has its ``value`` here.
- a truth value that a kernel is called with is four bytes, too many for its own type: it is one bit here.
- ``C * x`` of a ``constexpr`` of the file and a tensor is a ``constexpr`` that holds a tensor, of which nothing can be
  made: the tensor here, as for the compiler.
- ``x < 0`` of a number says it is of the number's type, so that it becomes one beside a block: it stays true or false.
- ``tl.maximum``/``tl.minimum`` spread NaN unless told to: on a GPU they return the other operand.
- ``tl.reduce``/``tl.associative_scan`` with a combine function of one's own call it once an element: whole slices here,
  in the order of the elements.
- ``autotune`` times kernels on a GPU: here configurations take turns, and where it is asked for the one whose turn it
  is runs once before it counts, with the tuner's hooks, as all of them do there.
- memory is not protected, so a kernel that runs past its tensors kills the process or meets luck: checked here.
- programs run one after another, first to last, so that a kernel whose programs race is right: here the order can be
  turned round, and ``kdata.verify.interpreter.races`` sees one program load what another stored.
- what a masked load leaves out is zeros: other numbers can be asked for, see ``kdata.verify.interpreter.unloaded``.
- the masks of block pointers and of tensor descriptors are no values of the language: they are here.
- hints, such as ``tl.multiple_of``, mean nothing: a false one is believed here, see ``interpreter.promised``; and what
  may be reordered keeps its order: not so here, see ``interpreter.order``. ``tl.assume``: see ``interpreter.assumed``.
- a kernel's ``"tl.constexpr"`` in quotes is none there: it is here. Shifts beyond bits: see ``interpreter.shifts``;
  places beyond blocks: see ``interpreter.outside``.
- floating numbers beyond what an integer holds become any: here its ends, as on GPUs, and zero of NaN.
- ``and``, ``or``, ``not``, ``min`` and ``max`` are read as Python reads them: see ``interpreter.rewriting``.
- what loops count is of 32 bits, and conditions that are added are joined by "or": see ``interpreter.wide``. The type
  that is said of a parameter means nothing: see ``interpreter.said``.
- ``libdevice`` is not there: see ``kdata.verify.interpreter.libdevice``.
- ``tl.dot`` is exact whatever its ``input_precision``: asked for tf32, its factors are rounded to tf32 here (its older
  ``allow_tf32``, which the default overrules, asks for it, too); where nothing is asked for it is fp32's, as the track
  is that is judged, and a receipt tells of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np
import triton
import triton.language as tl
from triton._C.libtriton import ir
from triton.runtime import autotuner, interpreter

from kdata.verify.interpreter import (
    assumed,
    drawing,
    haste,
    libdevice,
    order,
    outside,
    pointers,
    precision,
    promised,
    races,
    reductions,
    rewriting,
    rounding,
    said,
    shifts,
    unloaded,
    vectors,
    wide,
)

Array = np.ndarray[Any, np.dtype[Any]]
_turn = 0
_choices = 0  # configurations of the autotuner that has most of them
_prunes = False  # an autotuner has run that may leave some of them out
_measuring = False  # autotuners run a kernel before they choose, as on a GPU
_ranges: list[tuple[int, int]] = []  # memory that the running kernel was given
_violations: list[str] = []


@cache
def mend() -> None:
    """Apply all mends, once a process. ``TRITON_INTERPRET=1`` must have been set before triton was imported."""
    if not triton.knobs.runtime.interpret:
        raise RuntimeError("TRITON_INTERPRET=1 must be set before triton is imported")
    np.seterr(all="ignore")
    haste.hasten()
    rewriting.install()
    _mend_bfloat16()
    _mend_arguments()
    said.install()
    wide.install()
    _mend_constants()
    _mend_masks()
    precision.hear_older()
    libdevice.teach()
    builder: Any = interpreter.InterpreterBuilder
    builder.create_maxnumf = lambda self, lhs, rhs: self.binary_op(lhs, rhs, np.fmax)
    builder.create_minnumf = lambda self, lhs, rhs: self.binary_op(lhs, rhs, np.fmin)
    _reduce_bfloat16(reductions.mend())
    _choose_in_turn()
    _forget_choices()
    order.install()
    shifts.install()
    outside.install()
    drawing.install()
    for name, pointer, mask in (
        ("create_masked_load", 0, 1),
        ("create_masked_store", 0, 2),
        ("create_atomic_rmw", 1, 3),
    ):
        _check_bounds(builder, name, pointer, mask)
    races.watch(_ranges)
    unloaded.fill()
    promised.install()
    assumed.install()
    vectors.share(_ranges)
    pointers.refuse_as_numbers()


def give(ranges: list[tuple[int, int]]) -> None:
    """The memory that the next kernel may touch, as pairs of first and last-but-one address."""
    _ranges[:] = ranges


def violations() -> list[str]:
    """What kernels did outside their memory since this was last asked."""
    found = list(_violations)
    _violations.clear()
    return found


def _check_bounds(builder: Any, name: str, pointer: int, mask: int) -> None:
    original = getattr(builder, name)

    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        addresses, wanted = arguments[pointer].data, arguments[mask].data
        size = max(1, arguments[pointer].get_element_ty().primitive_bitwidth // 8)
        if wanted.size == 1 == addresses.size:
            right = not wanted.item() or _holds(addresses.item(), size)
        else:
            right = not wanted.any() or _inside(addresses if wanted.all() else addresses[wanted], size)
        if not right:
            _violations.append(f"program {self.grid_idx} {name.split('_')[-1]}s outside the tensors it was given")
            raise IndexError(_violations[-1])
        return original(self, *arguments, **named)

    setattr(builder, name, method)


def _holds(address: int, size: int) -> bool:
    return any(first <= address and address + size <= end for first, end in _ranges)


def _inside(addresses: Array, size: int) -> bool:
    low, high = int(addresses.min()), int(addresses.max()) + size
    if _holds(low, high - low):
        return True
    right = np.zeros(addresses.shape, bool)
    for first, end in _ranges:
        right |= (addresses >= first) & (addresses + np.uint64(size) <= end)
    return bool(right.all())


def take_turn(number: int) -> None:
    """Which of an autotuner's configurations the next new key gets."""
    global _turn
    _turn = number


def choices() -> int:
    """Turns after which every configuration has been seen, as far as autotuners have chosen."""
    return _choices


def prunes() -> bool:
    """Whether an autotuner may leave out configurations by what it is given."""
    return _prunes


def measure(really: bool) -> None:
    """Whether autotuners run a kernel before they choose: what it adds to or changes in place is there twice then."""
    global _measuring
    _measuring = really


def _forget_choices() -> None:
    """Let every turn of ``take_turn`` bring another configuration, not every new key only."""
    tuner: Any = vars(autotuner)["Autotuner"]
    run = tuner.run

    def chosen(self: Any, *arguments: Any, **more: Any) -> Any:
        global _prunes
        if vars(self).get("_turn") != _turn:
            self._turn = _turn
            self.cache.clear()
        _prunes = _prunes or bool(self.early_config_prune)
        return run(self, *arguments, **more)

    tuner.run = chosen


def _choose_in_turn() -> None:
    tuner: Any = vars(autotuner)["Autotuner"]
    run = tuner._bench

    def bench(self: Any, *arguments: Any, config: Any, **meta: Any) -> list[float]:
        global _choices
        _choices = max(_choices, len(self.configs))
        chosen = self.configs[_turn % len(self.configs)]
        if _measuring and config is chosen:
            _measure_once(self, lambda: run(self, *arguments, config=config, **meta))
        return [0.0 if config is chosen else 1.0] * 3

    tuner._bench = bench


def _measure_once(tuner: Any, run: Callable[[], Any]) -> None:
    """What an autotuner does to measure a configuration, its hooks and the kernel, once instead of many times."""
    own = vars(tuner)
    before = {"do_bench": own["do_bench"]} if "do_bench" in own else {}
    own["do_bench"] = lambda call, **_: call()
    try:
        run()
    finally:
        del own["do_bench"]
        own.update(before)


def _mend_bfloat16() -> None:
    builder: Any = interpreter.InterpreterBuilder
    handle: Any = interpreter.TensorHandle
    bfloat16 = tl.bfloat16

    def wide(value: Any) -> Any:
        is_half = (
            isinstance(value, handle) and value.dtype.scalar == bfloat16 and not hasattr(value.dtype, "element_ty")
        )
        return handle(rounding.from_bfloat16(value.data), tl.float32) if is_half else value

    def around(name: str) -> None:
        original = getattr(builder, name)

        def method(self: Any, *values: Any) -> Any:
            for value in values:
                if isinstance(value, handle) and value.dtype.name == "bf16":
                    break
            else:
                return original(self, *values)
            widened = [wide(v) for v in values]
            result = original(self, *widened)
            if result.data.dtype != np.float32:
                return result
            return handle(rounding.to_bfloat16(result.data), bfloat16)

        setattr(builder, name, method)

    builder.get_bf16 = lambda _, value: handle(rounding.to_bfloat16(np.array([value], np.float32)), bfloat16)
    for name in ("binary_op", "unary_op", "create_fma", "create_fabs", "create_rsqrt", "create_erf", "create_clampf"):
        around(name)
    _mend_casts(builder, handle)
    dot = builder.create_dot

    def create_dot(self: Any, a: Any, b: Any, d: Any, precision: Any, imprecise: Any) -> Any:
        factors = wide(a), wide(b)
        if precision == ir.INPUT_PRECISION.TF32:
            factors = tuple(
                handle(rounding.to_tf32(f.data), f.dtype) if f.data.dtype == np.float32 else f for f in factors
            )
        return dot(self, *factors, d, precision, imprecise)

    builder.create_dot = create_dot


def _reduce_bfloat16(reduce: Any) -> None:
    def narrow(self: Any, value: Any) -> Any:
        if value.dtype.scalar != tl.float32:  # an index
            return value
        bits = rounding.to_bfloat16(value.handle.data)
        return self.to_tensor(bits if value.type.is_block() else bits.item(), tl.bfloat16)

    def around(name: str) -> None:
        original = getattr(reduce, name)

        def method(self: Any, given: Any, *more: Any, **options: Any) -> Any:
            value = given[0] if isinstance(given, tuple) else given
            if value.dtype.scalar != tl.bfloat16:
                return original(self, given, *more, **options)
            found = original(
                self, self.to_tensor(rounding.from_bfloat16(value.handle.data), tl.float32), *more, **options
            )
            return tuple(narrow(self, f) for f in found) if isinstance(found, tuple) else narrow(self, found)

        setattr(reduce, name, method)

    around("sum")
    around("min_max")


def _mend_arguments() -> None:
    whole: Any = interpreter
    convert, handle = whole._implicit_cvt, whole.TensorHandle

    def implicit(argument: Any) -> Any:
        if type(argument) is float:
            return tl.tensor(handle(np.array([argument], np.float32), tl.float32), tl.float32)
        if type(argument) is bool:
            return tl.tensor(handle(np.array([argument]), tl.int1), tl.int1)
        return convert(argument)

    whole._implicit_cvt = implicit
    executor = whole.GridExecutor
    prepare = executor.__init__

    def init(self: Any, function: Any, names: Any, *more: Any) -> None:
        prepare(self, function, names, *more)
        self.constexprs = [n for n in names if "constexpr" in str(function.__annotations__.get(n, ""))]

    executor.__init__ = init
    dtype: Any = tl.dtype
    dtype.value = property(lambda self: self)
    builder: Any = interpreter.InterpreterBuilder
    splat = builder.create_splat

    def create_splat(self: Any, kind: Any, value: Any) -> Any:
        if value.data.dtype == np.bool_:  # a comparison's answer, said to be of its operands' type
            return handle(np.full(kind.shape, value.data.reshape(-1)[0]), tl.int1)
        return splat(self, kind, value)

    builder.create_splat = create_splat


def _mend_constants() -> None:
    constant: Any = tl.constexpr

    def around(name: str) -> None:
        original = getattr(constant, name)

        @wraps(original)
        def method(self: Any, other: Any) -> Any:
            return NotImplemented if isinstance(other, tl.core.tensor) else original(self, other)

        setattr(constant, name, method)

    for name in "add sub mul truediv floordiv mod and or xor lshift rshift gt ge lt le eq ne".split():
        around(f"__{name}__")


def _mend_masks() -> None:
    whole: Any = interpreter

    def around(kind: Any) -> None:
        original = kind.materialize_pointers

        def materialize_pointers(self: Any, *arguments: Any) -> Any:
            pointers, mask = original(self, *arguments)
            return pointers, whole.TensorHandle(mask, tl.int1) if isinstance(mask, np.ndarray) else mask

        kind.materialize_pointers = materialize_pointers

    for name in ("BlockPointerHandle", "TensorDescHandle"):  # the former is gone from triton 3.9
        if name in vars(whole):
            around(vars(whole)[name])


def _mend_casts(builder: Any, handle: Any) -> None:
    cast = builder.cast_impl

    def cast_impl(self: Any, source: Any, target: Any) -> Any:
        before, after = source.dtype.scalar, target.scalar
        if before == tl.bfloat16:
            source = handle(rounding.from_bfloat16(source.data), tl.float32)
            if after == tl.float32:
                return source
        if after == tl.bfloat16:
            return handle(rounding.to_bfloat16(source.data.astype(np.float32)), tl.bfloat16)
        if source.data.dtype.kind == "f" and after.is_int() and not after.is_bool():
            return handle(rounding.to_whole(source.data, after.name), after)
        return cast(self, source, target)

    convert = builder.create_fp_to_fp

    def create_fp_to_fp(self: Any, source: Any, target: Any, rounding_mode: Any) -> Any:
        standard = {tl.float16, tl.bfloat16, tl.float32, tl.float64}
        before, after = source.dtype.scalar, target.scalar
        if rounding_mode == ir.ROUNDING_MODE.RTZ and (before, after) == (tl.float32, tl.bfloat16):
            return handle(rounding.to_bfloat16(source.data, truncates=True), after)
        if after in rounding.EIGHTS and before in standard:
            wide = rounding.from_bfloat16(source.data) if before == tl.bfloat16 else source.data
            return handle(rounding.to_float8(wide, after), after)
        if before in rounding.EIGHTS and after in standard:
            source = handle(rounding.from_float8(source.data, before), tl.float32)
            return source if after == tl.float32 else cast_impl(self, source, target)
        if before in standard and after in standard:
            return cast_impl(self, source, target)
        return convert(self, source, target, rounding_mode)

    builder.cast_impl, builder.create_fp_to_fp = cast_impl, create_fp_to_fp
