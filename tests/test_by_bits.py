"""Loads from a table by the bits of what was loaded before."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from kdata.verify.interpreter import by_bits

TABLE = 1 << 20  # its address


def _looked(numbers: torch.Tensor, places: Any, given: list[tuple[int, int]], inputs: list[torch.Tensor]) -> list[str]:
    """What is found where numbers are loaded, and then these places of a table of two bytes an element."""
    by_bits.begin(inputs, given)
    by_bits._recent.append(numbers.view(torch.int16).numpy().astype(np.int64))
    kind = SimpleNamespace(primitive_bitwidth=16)
    pointers = SimpleNamespace(data=TABLE + 2 * np.asarray(places), get_element_ty=lambda: kind)
    by_bits._look(pointers, SimpleNamespace(data=np.ones(len(places), bool)))
    return by_bits.found()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_places_that_follow_from_bits_are_found_and_others_are_not(dtype: torch.dtype) -> None:
    numbers = torch.randn(64).to(dtype)
    bits = numbers.view(torch.int16).int().numpy()
    for places in (bits + 32768, bits & 0xFFFF, 32767 - bits, 2 * (bits + 32768)):
        assert _looked(numbers, places, [], [numbers]) == [by_bits.TOLD]
        assert _looked(numbers, places, [(TABLE - 1, TABLE + (1 << 18))], [numbers]) == []  # the task's own table
    assert _looked(numbers, np.arange(64), [], [numbers]) == []
    assert _looked(numbers, bits & 0xFF, [], [numbers]) == []


def test_integers_are_places_and_few_numbers_or_a_row_of_them_are_chance() -> None:
    numbers = torch.arange(64, dtype=torch.int16).view(torch.float16)
    assert _looked(numbers, np.arange(64), [], [numbers]) == []
    few = torch.tensor([1.0, 2.0] * 32).half()
    assert _looked(few, few.view(torch.int16).int().numpy(), [], [few]) == []


@pytest.mark.parametrize(("dtype", "followed"), [(torch.float16, True), (torch.float32, False), (torch.int16, False)])
def test_numbers_in_half_precision_are_followed(dtype: torch.dtype, followed: bool) -> None:
    by_bits.begin([torch.zeros(4, dtype=dtype)], [])
    assert by_bits._half is followed


def test_a_task_may_have_such_a_table_itself_and_cast_it() -> None:
    by_bits.begin([torch.zeros(4).half()], [(TABLE, TABLE + (1 << 17))])
    assert not by_bits._half
