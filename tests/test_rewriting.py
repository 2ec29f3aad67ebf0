"""Kernels rewritten for the interpreter: truth values and extremes as the compiler has them."""

from __future__ import annotations

import os
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from kdata.verify.interpreter import interpreter

interpreter.mend()
EIGHT = np.arange(8)


@triton.jit  # type: ignore[untyped-decorator]
def joined(y_ptr: Any, low: Any, high: Any, sign: tl.constexpr) -> None:
    i: Any = tl.arange(0, 8)
    both: Any = i >= low and i < high
    if sign == 1 and not (sign > 2 or sign is None):
        tl.store(y_ptr + i, tl.where(both, 1, 0))
    elif sign == 2:
        tl.store(y_ptr + i, tl.where(i < low or not (i < high), 1, 0))
    else:
        tl.store(y_ptr + i, max(min(i, high), low))


@pytest.mark.parametrize(
    ("sign", "expected"),
    [
        (1, (EIGHT >= 2) & (EIGHT < 5)),
        (2, (EIGHT < 2) | (EIGHT >= 5)),
        (3, EIGHT.clip(2, 5)),
    ],
)
def test_operators_of_blocks_go_element_by_element(sign: int, expected: interpreter.Array) -> None:
    found = torch.full((8,), -1, dtype=torch.int32)
    interpreter.give([(found.data_ptr(), found.data_ptr() + 32)])
    joined[(1,)](found, 2, 5, sign=sign)
    assert found.tolist() == expected.astype(int).tolist()


def test_what_a_kernel_is_given_besides_can_be_named_by_no_text() -> None:
    found = torch.zeros(8, dtype=torch.int32)
    interpreter.give([(found.data_ptr(), found.data_ptr() + 32)])
    joined[(1,)](found, 2, 5, sign=1)
    assert any("interpreted" in name for name in globals())
    assert not {"interpreter_semantic", "interpreter_builder", "inspect", "textwrap"} & globals().keys()
