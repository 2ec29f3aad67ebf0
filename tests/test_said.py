"""Types that a kernel says of its parameters: as a GPU takes them."""

from __future__ import annotations

import os
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"

import pytest
import torch
import triton
import triton.language as tl

from kdata.verify.interpreter import interpreter

interpreter.mend()


@triton.jit  # type: ignore[untyped-decorator]
def bytes_kernel(y: tl.pointer_type(tl.int64), n: tl.int8, m: tl.uint8, k: tl.int64) -> None:
    tl.store(y, tl.cast(n, tl.int64))
    tl.store(y + 1, tl.cast(m, tl.int64))
    tl.store(y + 2, k * 3)


@triton.jit  # type: ignore[untyped-decorator]
def reals_kernel(y: Any, half: tl.float16, brain: tl.bfloat16, whole: float, fine: tl.float64) -> None:
    tl.store(y, tl.cast(half, tl.float64))
    tl.store(y + 1, tl.cast(brain, tl.float64))
    tl.store(y + 2, tl.cast(whole / 2, tl.float64))
    tl.store(y + 3, fine)


def run(kernel: Any, y: torch.Tensor, *numbers: float) -> list[float]:
    """What a kernel stores when it is called with these."""
    interpreter.give([(y.data_ptr(), y.data_ptr() + y.nbytes)])
    try:
        kernel[(1,)](y, *numbers)
    finally:
        interpreter.give([])
    made: list[float] = y.tolist()
    return made


def test_integers_are_of_the_bits_that_are_said() -> None:
    y = torch.zeros(3, dtype=torch.int64)
    assert run(bytes_kernel, y, 300, 300, 1 << 31 - 1) == [44, 44, 3 << 30]
    assert run(bytes_kernel, y, 200, -1, -5) == [-56, 255, -15]


def test_numbers_are_as_precise_as_is_said() -> None:
    third = 1 / 3
    halves = [torch.tensor(third, dtype=kind).item() for kind in (torch.float16, torch.bfloat16)]
    assert run(reals_kernel, torch.zeros(4, dtype=torch.float64), third, third, 1, third) == [*halves, 0.5, third]


def test_what_is_of_another_kind_than_is_said_is_refused() -> None:
    with pytest.raises(Exception, match="said to be i8"):
        run(bytes_kernel, torch.zeros(3, dtype=torch.int64), 0.5, 1, 1)
    with pytest.raises(Exception, match=r"said to be \*i64 leads to torch.int32"):
        run(bytes_kernel, torch.zeros(3, dtype=torch.int32), 1, 1, 1)
