"""Numbers in fewer bits in the interpreter: as torch has them, to the bit."""

from __future__ import annotations

import os
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from kdata.verify.interpreter import interpreter, rounding

interpreter.mend()
EIGHTS = [(tl.float8e4nv, torch.float8_e4m3fn, 448.0), (tl.float8e5, torch.float8_e5m2, 57344.0)]


def drawn(largest: float) -> torch.Tensor:
    """Numbers of all magnitudes, ties, the largest one, and what is beside it."""
    generator = torch.Generator().manual_seed(0)
    wide = torch.randn(4000, generator=generator) * 2.0 ** torch.randint(-20, 8, (4000,), generator=generator)
    ties = torch.arange(-64, 65) / 512.0
    return torch.cat([wide.clamp(-largest, largest), ties, torch.tensor([0.0, -0.0, largest, -largest, torch.nan])])


@pytest.mark.parametrize(("kind", "dtype", "largest"), EIGHTS)
def test_float8_is_rounded_to_nearest_even(kind: Any, dtype: torch.dtype, largest: float) -> None:
    x = drawn(largest)
    there = x.to(dtype).float()
    back = rounding.from_float8(rounding.to_float8(x.numpy(), kind), kind)
    assert np.array_equal(back, there.numpy(), equal_nan=True)
    assert np.array_equal(np.signbit(back[:-1]), np.signbit(there.numpy()[:-1]))
    beyond = rounding.to_float8(np.array([2 * largest, -np.inf]), kind)
    assert rounding.from_float8(beyond, kind).tolist() == [largest, -largest]


@pytest.mark.parametrize(("kind", "dtype", "largest"), EIGHTS)
def test_all_bits_of_float8_are_read(kind: Any, dtype: torch.dtype, largest: float) -> None:
    bits = torch.arange(256, dtype=torch.uint8)
    found = rounding.from_float8(bits.numpy(), kind)
    assert np.array_equal(found, bits.view(dtype).float().numpy(), equal_nan=True)


@triton.jit  # type: ignore[untyped-decorator]
def rounded(x_ptr: Any, y_ptr: Any, how: tl.constexpr) -> None:
    i: Any = tl.arange(0, 64)
    x: Any = tl.load(x_ptr + i)
    if how == "float8":
        y: Any = x.to(tl.float8e4nv).to(tl.float32) + x.to(tl.bfloat16).to(tl.float8e5).to(tl.float16)
    else:
        y = x.to(tl.bfloat16, fp_downcast_rounding="rtz").to(tl.float32)
    tl.store(y_ptr + i, y)


@pytest.mark.parametrize("how", ["float8", "toward zero"])
def test_kernels_round_so(how: str) -> None:
    x, y = torch.randn(64, generator=torch.Generator().manual_seed(1)), torch.zeros(64)
    interpreter.give([(t.data_ptr(), t.data_ptr() + 256) for t in (x, y)])
    rounded[(1,)](x, y, how=how)
    eighth = x.to(torch.float8_e4m3fn).float() + x.bfloat16().to(torch.float8_e5m2).float()
    toward_zero = (x.view(torch.int32) & -65536).view(torch.float32)
    assert torch.equal(y, eighth if how == "float8" else toward_zero)


@pytest.mark.parametrize("name", ["int16", "int32", "uint32", "int64", "uint64"])
def test_what_an_integer_cannot_hold_becomes_its_end(name: str) -> None:
    least, most = np.iinfo(name).min, np.iinfo(name).max
    given = np.array([1e30, -1e30, np.inf, -np.inf, np.nan, 2.9, 0.0], np.float32)
    assert rounding.to_whole(given, name).tolist() == [most, least, most, least, 0, 2, 0]


def test_of_eight_bits_the_lower_ones_of_sixteen_are_left() -> None:
    assert rounding.to_whole(np.array([300.0, -300.0, 127.0], np.float16), "int8").tolist() == [44, -44, 127]
