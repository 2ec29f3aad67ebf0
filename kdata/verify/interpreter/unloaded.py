"""What a masked load gives for elements that it leaves out, where no ``other`` says it. In the host's child.

Triton's language leaves these undefined; its interpreter and what it compiles for NVIDIA's GPUs take zeros, on which
kernels of well-known libraries rely.  Where it is asked for, they are numbers here that no answer should
hold: large and of both signs, so that a sum, a maximum and a minimum show them.  They are finite, for what is
multiplied by a mask afterwards is not meant to hold them either; and integers stay zeros, for they are addresses as
often as not.  What block pointers leave out is zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

EVEN, ODD = 29_000.0, -17_000.0  # of a lane; float16 holds both, and no two of them make up for each other
KINDS = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64, "bf16": np.uint16}
BITS = {EVEN: 0x46E2, ODD: 0xC684}  # in bfloat16, near enough
_shown = False  # they are numbers that show, to see whether the answer follows from them
_met = False  # a kernel has loaded so
_block = False  # the load that runs is a block pointer's
_said = False  # the load that runs says an ``other``, which the interpreter drops where it is one zero


def show(shown: bool) -> None:
    """Whether what is left out is numbers that show from here on, or zeros."""
    global _shown
    _shown = shown


def met() -> bool:
    """Whether a kernel has left out floating-point numbers so since this was last asked."""
    global _met
    found, _met = _met, False
    return found


def fill() -> None:
    """Teach the interpreter, once a process."""
    builder: Any = interpreter.InterpreterBuilder
    load, load_block = builder.create_masked_load, builder.create_tensor_pointer_load

    def create_masked_load(self: Any, pointers: Any, mask: Any, other: Any, *more: Any, **named: Any) -> Any:
        if other is None and not (_block or _said) and not mask.data.all():
            other = _others(pointers)
        return load(self, pointers, mask, other, *more, **named)

    def create_tensor_pointer_load(self: Any, *arguments: Any) -> Any:
        global _block
        _block = True
        try:
            return load_block(self, *arguments)
        finally:
            _block = False

    _hear_others()
    builder.create_masked_load, builder.create_tensor_pointer_load = create_masked_load, create_tensor_pointer_load


def _hear_others() -> None:
    """Know of each load whether it says what it gives for what its mask leaves out."""
    semantic: Any = interpreter.TritonSemantic
    load = semantic.load

    def heard(self: Any, pointer: Any, mask: Any, other: Any, *more: Any, **named: Any) -> Any:
        global _said
        _said = other is not None
        try:
            return load(self, pointer, mask, other, *more, **named)
        finally:
            _said = False

    semantic.load = heard


def _others(pointers: Any) -> Any:
    """A block of such numbers; None, which is zeros, where elements are no floats or these are not asked for."""
    global _met
    kind: Any = pointers.get_element_ty()
    if kind.name not in KINDS:
        return None
    _met = True
    if not _shown:
        return None
    even, odd = (BITS[EVEN], BITS[ODD]) if kind == tl.bfloat16 else (EVEN, ODD)
    data = np.full(pointers.data.size, even, KINDS[kind.name])
    data[1::2] = odd
    return vars(interpreter)["TensorHandle"](data.reshape(pointers.data.shape), kind)
