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


THREE = tl.constexpr(3)


@triton.jit  # type: ignore[untyped-decorator]
def twice(x: Any) -> Any:
    return x + x


@triton.jit  # type: ignore[untyped-decorator]
def beside_constants(y_ptr: Any, kind: tl.constexpr) -> None:
    i: Any = tl.arange(0, 8)
    if kind == "product":
        tl.store(y_ptr + i, twice(THREE * i))
    elif kind == "difference":
        tl.store(y_ptr + i, -THREE - i)
    elif kind == "quotient":
        tl.store(y_ptr + i, (THREE + 18) // (i + 1))
    else:
        tl.store(y_ptr + i, tl.where((THREE > i) & (THREE != i + 2), i, 0))  # noqa: SIM300 - its place is what is tested


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("product", 6 * EIGHT),
        ("difference", -3 - EIGHT),
        ("quotient", 21 // (EIGHT + 1)),
        ("comparison", np.where((EIGHT < 3) & (EIGHT != 1), EIGHT, 0)),
    ],
)
def test_a_constant_of_the_file_stands_left_of_a_block(kind: str, expected: interpreter.Array) -> None:
    found = torch.full((8,), -1, dtype=torch.int32)
    interpreter.give([(found.data_ptr(), found.data_ptr() + 32)])
    beside_constants[(1,)](found, kind=kind)
    assert found.tolist() == expected.tolist()


@triton.jit  # type: ignore[untyped-decorator]
def flagged(y_ptr: Any, flag: Any, low: Any) -> None:
    i: Any = tl.arange(0, 8)
    y: Any = tl.where(flag, i, -i)
    if flag:
        y += 100
    if not flag or low > 5:
        y += 1000
    tl.store(y_ptr + i, y + flag)


@pytest.mark.parametrize("flag", [True, False])
def test_a_truth_value_is_an_argument(flag: bool) -> None:
    found = torch.full((8,), -1, dtype=torch.int32)
    interpreter.give([(found.data_ptr(), found.data_ptr() + 32)])
    flagged[(1,)](found, flag, 2)
    assert found.tolist() == (EIGHT + 101 if flag else 1000 - EIGHT).tolist()


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
