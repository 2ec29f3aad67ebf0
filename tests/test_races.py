"""Who stored what a program loads, and which programs a text singles out: without running kernels."""

from __future__ import annotations

import numpy as np
import pytest

from kdata.verify.candidate.source import landmarks
from kdata.verify.interpreter.races import Array, Record

RANGES = [(4096, 4096 + 4 * 64), (16384, 16384 + 4 * 64)]
ALL = np.ones(16, bool)


def block(start: int, step: int = 1) -> Array:
    return 4096 + 4 * (start + step * np.arange(16, dtype=np.int64))


def begun() -> Record:
    record = Record()
    record.launch()
    record.program()
    return record


def test_a_program_may_load_what_its_own_lane_stored_and_what_a_launch_before_left() -> None:
    record = begun()
    record.stores(block(0), ALL, 4, RANGES)
    record.loads(block(0), ALL)
    record.launch()
    record.program()
    record.loads(block(0), ALL)
    assert record.found == ""


def test_a_launch_that_may_begin_early_is_to_load_nothing_that_the_one_before_stored() -> None:
    record = begun()
    record.stores(block(0), ALL, 4, RANGES)
    record.early = True
    record.launch()
    record.program()
    record.loads(block(16), ALL)
    assert record.found == ""
    record.loads(block(0), ALL)
    assert "launch_pdl" in record.found


def test_another_program_s_store_is_a_race_unless_an_atomic_came_between() -> None:
    for waits in (False, True):
        record = begun()
        record.stores(block(0), ALL, 4, RANGES)
        record.program()
        record.waited = waits
        record.loads(block(8), ALL)
        assert ("another one" in record.found) != waits


@pytest.mark.parametrize("barrier", [False, True])
def test_another_lane_s_store_is_a_race_unless_a_barrier_came_between(barrier: bool) -> None:
    record = begun()
    record.stores(block(0), ALL, 4, RANGES)
    if barrier:
        record.barrier()
    record.loads(block(15, -1), ALL)
    assert ("other lanes" in record.found) != barrier


def test_lanes_that_are_masked_out_neither_store_nor_load() -> None:
    record = begun()
    half = np.arange(16) < 8
    record.stores(block(0), half, 4, RANGES)
    record.program()
    record.loads(block(0), ~half)
    assert record.found == ""
    record.loads(block(0), half)
    assert record.found


def test_elsewhere_in_memory_nothing_was_stored() -> None:
    record = begun()
    record.stores(block(0), ALL, 4, RANGES)
    record.program()
    record.loads(block(0) + (16384 - 4096), ALL)
    record.loads(block(16), ALL)
    assert record.found == ""


def test_numbers_that_kernels_and_launches_name() -> None:
    text = """
@triton.jit
def kernel(x, n, SKIP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    tl.store(x + row * BLOCK, tl.where((row == 77) | (row == 7 * 13), 0.0, 1.0))

def other():
    return 12345

class ModelNew:
    def forward(self, x):
        kernel[(x.shape[0],)](x, x.numel(), SKIP=50000, BLOCK=1024)
"""
    found = landmarks(text)
    assert {77, 91, 50000, 50000 // 1024, 50000 // 256} <= set(found)
    assert not {12345, 1024, 0, 1} & set(found)
