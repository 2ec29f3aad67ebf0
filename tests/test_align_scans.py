"""Scans whose combining function is more than a sum, and results that are tuples with names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.align_tasks import task, verified


def test_a_combining_function_is_rewritten_like_a_kernel(tmp_path: Path) -> None:
    candidate = verified(task("return torch.logcumsumexp(x, dim=1)", "[torch.randn(6, 40)]"), tmp_path)
    assert "triton_helpers" not in candidate.source
    assert "libdevice" not in candidate.source
    assert "def log1p(x):" in candidate.source  # carried, because only the combining function needs it


@pytest.mark.parametrize("function", ["cummax", "cummin"])
def test_a_scan_of_pairs_has_a_short_name_and_returns_a_plain_tuple(function: str, tmp_path: Path) -> None:
    candidate = verified(task(f"return torch.{function}(x, dim=0)", "[torch.randn(24, 5)]"), tmp_path)
    combining = next(line for line in candidate.source.splitlines() if line.startswith("def combine_"))
    assert len(combining) < 40


def test_a_named_tuple_of_torch_is_returned_as_a_tuple(tmp_path: Path) -> None:
    candidate = verified(task("return torch.max(x, dim=1)", "[torch.randn(6, 40)]"), tmp_path)
    assert "return (" in candidate.source
