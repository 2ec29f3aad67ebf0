"""Indices in floating point, which name other elements beyond 2^24 of them: where kernels compute some."""

from __future__ import annotations

import pytest

from kdata.verify.candidate.indices import CHECK, in_fractions, may_count, tell
from kdata.verify.evidence.findings import Findings

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, n, rows, cols, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    {}
    tl.store(y + i, tl.load(x + row, mask=i < n), mask=i < n)
"""


@pytest.mark.parametrize(
    "line",
    ["row = (i / cols).to(tl.int32)", "f = i.to(tl.float32)\n    row = tl.floor(f / cols).to(tl.int32)",
     "row = tl.cast(tl.cast(i, tl.float32) * (1.0 / cols), tl.int64)"],
)  # fmt: skip
def test_a_place_that_is_divided_as_a_number_with_a_fraction_is_told(line: str) -> None:
    text, found = KERNEL.format(line), Findings()
    assert list(in_fractions(text))
    tell(text, found)
    assert [(c.name, c.passed) for c in found.checks] == [(CHECK, False)]


@pytest.mark.parametrize(
    "line",
    ["row = i // cols", "row = ((i % cols + 0.5) * 0.5).to(tl.int32)", "row = tl.load(x + i).to(tl.int32)",
     "row = i + (i < n).to(tl.int32)", "row = (tl.load(x + i) / cols).to(tl.int32)",
     "z = i.to(tl.float32) * 0.5\n    row = i"],
)  # fmt: skip
def test_whole_numbers_one_dimension_and_values_are_not(line: str) -> None:
    assert not list(in_fractions(KERNEL.format(line)))


@pytest.mark.parametrize(
    ("line", "may"),
    [("row = (i / cols).to(tl.int32)", True), ("row = (i.to(tl.float32) + 1).to(tl.int64)", True),
     ("row = i.to(tl.int64) // cols", False), ("z = i.to(tl.float32)\n    row = i", False)],
)  # fmt: skip
def test_places_are_looked_at_far_off_where_numbers_go_to_fractions_and_back(line: str, may: bool) -> None:
    assert may_count(KERNEL.format(line)) is may
