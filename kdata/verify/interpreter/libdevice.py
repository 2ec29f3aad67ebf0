"""The functions of ``triton.language.extra.libdevice`` under triton's interpreter, which knows none of them.

In triton 3.7.1 those of the general module are empty stubs that give ``None``, and those of the backends ask the
interpreter for code in NVIDIA's or AMD's libraries.  Here they are computed in float64 and rounded to what the library
gives.  As there, floats are float32 or float64: other dtypes are refused.

Source: CUDA's libdevice user guide; the tables of dtypes in triton's ``language/extra/cuda/libdevice.py``.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import torch
import triton.language as tl
from torch import from_numpy
from torch.utils._python_dispatch import _disable_current_modes
from triton.runtime import interpreter

Array = np.ndarray[Any, np.dtype[Any]]
Function = Callable[..., Array]
MODULES = ("libdevice", "cuda.libdevice", "hip.libdevice")
NUMPY = ("abs floor ceil trunc exp2 sqrt rint signbit isnan isinf copysign sin cos tan log2 exp cosh sinh tanh log "
         "log10 log1p expm1 hypot cbrt fmod nextafter ldexp").split()  # fmt: skip
RENAMED = {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
           "atanh": np.arctanh, "atan2": np.arctan2, "pow": np.power, "nearbyint": np.rint, "llrint": np.rint,
           "scalbn": np.ldexp, "finitef": np.isfinite, "isfinited": np.isfinite}  # fmt: skip
SPECIAL = {"erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "erfcx": "erfcx", "normcdf": "ndtr", "normcdfinv": "ndtri",
           "lgamma": "gammaln", "j0": "bessel_j0", "j1": "bessel_j1", "y0": "bessel_y0", "y1": "bessel_y1",
           "cyl_bessel_i0": "i0", "cyl_bessel_i1": "i1"}  # fmt: skip
TURN = np.float32(1 / (2 * math.pi))
BOOLEAN = frozenset({"isnan", "isinf", "finitef", "isfinited", "signbit"})
WHOLE = {"llrint": tl.int64, "llround": tl.int64, "ilogb": tl.int32, "float_as_int": tl.int32, "clz": tl.int32,
         "popc": tl.int32, "ffs": tl.int32, "double_as_longlong": tl.int64, "float_as_uint": tl.uint32}  # fmt: skip
REAL = {"int_as_float": tl.float32, "uint_as_float": tl.float32, "longlong_as_double": tl.float64}
NAMED = {"int": tl.int32, "uint": tl.uint32, "ll": tl.int64, "ull": tl.uint64, "float": tl.float32,
         "double": tl.float64}  # fmt: skip
ROUNDED: dict[str, Function] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt, "rcp": np.reciprocal,
    "fma": lambda a, b, c: a * b + c, "rsqrt": lambda a: 1.0 / np.sqrt(a),
}  # fmt: skip
TOWARDS = {"n": np.rint, "z": np.trunc, "d": np.floor, "u": np.ceil}
BITS = re.compile(r"popc|clz|ffs|\w+_as_\w+")


def teach() -> None:
    """Put the functions into triton's modules, once a process."""
    known = _functions()
    known["erf"](np.zeros(1))  # torch imports a part of itself at the first call
    for name in MODULES:
        module = import_module(f"triton.language.extra.{name}")
        for stub in [n for n, value in vars(module).items() if callable(value) and hasattr(value, "__code__")]:
            if stub in known:
                setattr(module, stub, _interpreted(stub, known[stub]))


def _functions() -> dict[str, Function]:
    known: dict[str, Function] = {name: getattr(np, name) for name in NUMPY} | RENAMED | _arithmetic() | _bits()
    known |= {name: _special(getattr(torch.special, of)) for name, of in SPECIAL.items()}
    known |= {f"{name}_r{way}": _directed(function, way) for name, function in ROUNDED.items() for way in TOWARDS}
    known |= _fast()
    for source in NAMED:
        for target in NAMED.keys() - {source}:
            known |= {f"{source}2{target}_r{way}": _converted(target, way) for way in TOWARDS}
    return known


def _arithmetic() -> dict[str, Function]:
    return {
        "rsqrt": ROUNDED["rsqrt"],
        "fma": ROUNDED["fma"],
        "rcbrt": lambda a: 1.0 / np.cbrt(a),
        "exp10": lambda a: np.power(10.0, a),
        "fast_dividef": np.divide,
        "rhypot": lambda a, b: 1.0 / np.hypot(a, b),
        "norm3d": lambda a, b, c: np.sqrt(a * a + b * b + c * c),
        "rnorm3d": lambda a, b, c: 1.0 / np.sqrt(a * a + b * b + c * c),
        "norm4d": lambda a, b, c, d: np.sqrt(a * a + b * b + c * c + d * d),
        "rnorm4d": lambda a, b, c, d: 1.0 / np.sqrt(a * a + b * b + c * c + d * d),
        "saturatef": lambda a: np.where(np.isnan(a), 0.0, np.clip(a, 0.0, 1.0)),
        "fdim": lambda a, b: np.where(a > b, a - b, np.where(np.isnan(a) | np.isnan(b), np.nan, 0.0)),
        "sinpi": lambda a: np.sin(np.pi * np.remainder(a, 2.0)),
        "cospi": lambda a: np.cos(np.pi * np.remainder(a, 2.0)),
        "remainder": lambda a, b: a - b * np.rint(a / b),
        "round": _half_away,
        "llround": _half_away,
        "tgamma": np.vectorize(_gamma, otypes=[np.float64]),
        "logb": lambda a: np.floor(np.log2(np.abs(a))),
        "ilogb": lambda a: np.frexp(a)[1] - 1,
    }


def _fast() -> dict[str, Function]:
    """What a GPU approximates, with errors as large as its own.

    Source: CUDA C++ Programming Guide, "Mathematical Functions Appendix", "Intrinsic Functions"; PTX ISA, ``sin``,
    ``lg2``, ``ex2`` and ``tanh`` with ``.approx``.
    """

    def single(a: Array) -> Array:
        return np.asarray(a, np.float32).astype(np.float64)

    def wave(function: Function) -> Function:
        return lambda a: np.rint(function(2 * np.pi * single(a * TURN)) * 2.0**21) / 2.0**21

    def log2(a: Array) -> Array:
        exact = np.log2(a)
        return single(np.where((a >= 0.5) & (a <= 2.0), np.rint(exact * 2.0**22) / 2.0**22, exact))

    def exp2(a: Array) -> Array:
        return np.exp2(single(a))

    def tanh(a: Array) -> Array:
        part, power = np.frexp(np.tanh(a))
        return np.ldexp(np.rint(part * 2.0**11) / 2.0**11, power)

    sine, cosine = wave(np.sin), wave(np.cos)
    return {
        "fast_sinf": sine, "fast_cosf": cosine, "fast_tanf": lambda a: sine(a) / cosine(a), "fast_tanhf": tanh,
        "fast_log2f": log2, "fast_logf": lambda a: log2(a) * math.log(2),
        "fast_log10f": lambda a: log2(a) * math.log10(2),
        "fast_expf": lambda a: exp2(a * math.log2(math.e)), "fast_exp10f": lambda a: exp2(a * math.log2(10)),
        "fast_powf": lambda a, b: exp2(b * log2(a)),
    }  # fmt: skip


def _bits() -> dict[str, Function]:
    def same(a: Array) -> Array:
        return a

    width = {4: np.uint32, 8: np.uint64}
    known: dict[str, Function] = {
        "popc": lambda a: np.bitwise_count(a.view(width[a.itemsize])),
        "clz": lambda a: a.itemsize * 8 - np.frompyfunc(int.bit_length, 1, 1)(a.view(width[a.itemsize])),
        "ffs": lambda a: np.frompyfunc(lambda n: (int(n) & -int(n)).bit_length(), 1, 1)(a),
    }
    return known | {name: same for name in (*WHOLE, *REAL) if "_as_" in name}


def _half_away(a: Array) -> Array:
    return np.copysign(np.floor(np.abs(a) + 0.5), a)


def _gamma(a: float) -> float:
    try:
        return math.gamma(a)
    except (OverflowError, ValueError):
        return math.inf if a >= 0 else math.nan


def _special(function: Callable[..., torch.Tensor]) -> Function:
    def computed(a: Array) -> Array:
        found = np.empty(a.shape)
        with _disable_current_modes(), torch._C.DisableTorchFunction():
            function(from_numpy(np.ascontiguousarray(a)), out=from_numpy(found))
        return found

    return computed


def _directed(function: Function, way: str) -> Function:
    """Rounded to float32 in a direction; float64 to the nearest."""

    def computed(*values: Array) -> Array:
        exact = function(*values)
        near = exact.astype(np.float32)
        if way == "n":
            return exact
        low = {"d": near > exact, "u": near < exact, "z": np.abs(near) > np.abs(exact)}[way]
        to = {"d": -np.inf, "u": np.inf, "z": 0.0}[way]
        return np.where(low, np.nextafter(near, np.float32(to)), near).astype(np.float64)

    return computed


def _converted(target: str, way: str) -> Function:
    dtype = NAMED[target]

    def computed(a: Array) -> Array:
        if not dtype.is_int():
            return a
        bounds = np.iinfo(dtype.name)
        whole = np.nan_to_num(TOWARDS[way](a), nan=0.0)
        inside = np.clip(whole, bounds.min, float(np.nextafter(float(bounds.max), 0.0)) if bounds.max > 2**53 else
                         bounds.max)  # fmt: skip
        return np.where(whole >= bounds.max, bounds.max, inside.astype(dtype.name)).astype(dtype.name)

    return computed


def _interpreted(name: str, function: Function) -> Callable[..., Any]:
    """The function on what interpreted kernels hold: blocks, single values, and Python's numbers."""

    def called(*values: Any, _semantic: Any = None) -> Any:
        tensors = [_tensor(v) for v in values]
        dtypes = [t.dtype for t in tensors]
        if any(d.is_floating() and d not in (tl.float32, tl.float64) for d in dtypes):
            raise ValueError(f"libdevice has no {name} of {', '.join(map(str, dtypes))}")
        gives = _gives(name, dtypes)
        found = np.asarray(function(*(_operand(name, t, gives) for t in tensors)))
        return _value(found, gives, any(t.type.is_block() for t in tensors))

    called.__name__ = called.__qualname__ = name
    called.__signature__ = inspect.Signature()  # type: ignore[attr-defined]
    return called


def _tensor(value: Any) -> Any:
    value = value.value if isinstance(value, tl.constexpr) else value
    return value if isinstance(value, tl.core.tensor) else _value(
        np.array([value]), tl.float32 if isinstance(value, float) else tl.int32, False
    )  # fmt: skip


def _operand(name: str, tensor: Any, gives: Any) -> Array:
    data: Array = tensor.handle.data
    if BITS.fullmatch(name):
        return data.view(np.dtype(_numpy(gives))) if "_as_" in name else data
    whole = tensor.dtype.is_int() and (gives.is_int() or name in ("ldexp", "scalbn"))
    return data if whole else data.astype(np.float64)


def _gives(name: str, dtypes: list[Any]) -> Any:
    """The dtype of what a function gives."""
    if name in BOOLEAN:
        return tl.int1
    if name in WHOLE or name in REAL:
        return (WHOLE | REAL)[name]
    if (found := re.fullmatch(r"[a-z]+2([a-z]+)_r[nzdu]", name)) is not None:
        return NAMED[found[1]]
    if name == "abs" and dtypes[0].is_int():
        return dtypes[0]
    return tl.float64 if tl.float64 in dtypes else tl.float32


def _numpy(dtype: Any) -> Any:
    return vars(interpreter)["_get_np_dtype"](dtype)


def _value(data: Array, dtype: Any, block: bool) -> Any:
    held = interpreter.TensorHandle(np.asarray(data).astype(_numpy(dtype)), dtype)
    return tl.core.tensor(held, tl.block_type(dtype, list(data.shape)) if block else dtype)
