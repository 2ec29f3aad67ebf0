"""Answers as the bytes that a candidate's process hands back."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from kdata.verify.evidence.compare import Array, Tensors, UnequalError, exactly

EIGHTS = (torch.float8_e4m3fn, torch.float8_e5m2)


def read(dtype: str, data: bytes) -> Array:
    return Tensors([{"dtype": dtype, "shape": [len(data)], "offset": 0, "bytes": len(data)}], data).array(0)


@pytest.mark.parametrize("dtype", EIGHTS)
def test_all_codes_of_float8_are_the_numbers_that_torch_reads(dtype: torch.dtype) -> None:
    codes = torch.arange(256).to(torch.uint8)
    found = read(str(dtype)[6:], codes.numpy().tobytes())
    assert np.array_equal(found, codes.view(dtype).double().numpy(), equal_nan=True)


def test_a_byte_that_is_neither_true_nor_false_equals_neither() -> None:
    truth = read("bool", b"\0\1\1")
    assert truth.dtype == np.bool_
    exactly("output", truth, truth, None)
    with pytest.raises(UnequalError, match="1 of 3"):
        exactly("output", read("bool", b"\0\2\1"), truth, None)


def test_float8_is_compared_exactly_and_nan_is_nan() -> None:
    wanted = np.array([1.0, math.nan, 448.0])
    exactly("output", wanted.copy(), wanted, None)
    for wrong in ([1.125, math.nan, 448.0], [1.0, 2.0, 448.0], [math.nan, math.nan, 448.0]):
        with pytest.raises(UnequalError, match="1 of 3"):
            exactly("output", np.array(wrong), wanted, None)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("dtype", "code"), [("bfloat16", np.uint16(0x7F81)), ("float32", np.uint32(0x7F800001))])
def test_a_signalling_nan_is_one_as_any_other_and_nothing_is_warned_of(dtype: str, code: np.generic) -> None:
    data = code.tobytes()
    entry = {"dtype": dtype, "shape": [1], "offset": 0, "bytes": len(data)}
    assert np.isnan(Tensors([entry], data).array(0)).all()
