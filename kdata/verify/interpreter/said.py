"""Parameters of the types that a kernel says: ``n: tl.int64``, ``scale: float``. In the host's child.

For Triton's compiler a number that a kernel is called with is of the type that stands beside its parameter, whatever it
is: ``n: tl.int8`` holds eight bits of it, ``scale: tl.float16`` what half precision has nearest.  The interpreter makes
the type from the number.  A pointer that is said to be another's reads the memory as that on a GPU: refused here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter, jit

from kdata.verify.interpreter import rounding

WHOLE = {f"{sign}{bits}": f"{kind}{bits}" for sign, kind in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)}
REAL = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}


@dataclass(frozen=True, slots=True)
class Said:
    """A number for a parameter of a type that the kernel says."""

    number: float
    kind: str


def install() -> None:
    """Teach the interpreter, once a process."""
    whole: Any = interpreter
    convert, executor = whole._implicit_cvt, whole.GridExecutor
    prepare, call = executor.__init__, executor.__call__

    def init(self: Any, function: Any, names: Any, *more: Any) -> None:
        prepare(self, function, names, *more)
        kinds = {name: jit._normalize_ty(kind) for name, kind in function.__annotations__.items() if name in names}
        self.said = {name: kind for name, kind in kinds.items() if kind.lstrip("*k") in WHOLE | REAL}

    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.said:
            args = tuple(_as_said(a, self.said.get(n)) for n, a in zip(self.arg_names, args, strict=False))
            kwargs = {n: _as_said(a, self.said.get(n)) for n, a in kwargs.items()}
        return call(self, *args, **kwargs)

    whole._implicit_cvt = lambda argument: _number(argument) if type(argument) is Said else convert(argument)
    executor.__init__, executor.__call__ = init, called


def _as_said(argument: Any, kind: str | None) -> Any:
    """An argument for a parameter of this type, if any is said.

    Raises:
        TypeError: it is of no such type.
    """
    if kind is None:
        return argument
    if kind.startswith("*"):
        if hasattr(argument, "data_ptr") and _layout(jit._normalize_ty(str(argument.dtype)[6:])) != _layout(kind):
            raise TypeError(f"a pointer that is said to be {kind} leads to {argument.dtype}")
        return argument
    if isinstance(argument, float) and kind in WHOLE:
        raise TypeError(f"{argument} for a parameter that is said to be {kind}")
    return Said(argument, kind) if isinstance(argument, int | float) else argument


def _layout(pointer: str) -> str:
    """What the memory holds that a pointer leads to: numbers of so many bits, whose sign is the reader's affair."""
    kind = pointer.lstrip("*k")
    return {"u1": "8"}.get(kind, kind.lstrip("iu"))


def _number(said: Said) -> Any:
    kind = tl.dtype(WHOLE.get(said.kind, said.kind))
    return tl.core.tensor(vars(interpreter)["TensorHandle"](_held(said), kind), kind)


def _held(said: Said) -> np.ndarray[Any, np.dtype[Any]]:
    """The number as the type holds it: the lower bits of integers, the nearest one of others."""
    if said.kind == "bf16":
        return rounding.to_bfloat16(np.array([said.number], np.float32))
    if said.kind in REAL:
        return np.array([said.number]).astype(REAL[said.kind])
    bits = int(WHOLE[said.kind].lstrip("uint"))
    return np.array([int(said.number) % (1 << bits)], np.uint64).astype(WHOLE[said.kind])
