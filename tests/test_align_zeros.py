"""What is computed of zeros: cells of recurrent layers that are given no state begin with such."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.align_tasks import task, verified

CELLS = {"LSTMCell": 2, "GRUCell": 2, "RNNCell": 1}  # and kernels: the product with the input, and the rest


@pytest.mark.parametrize("cell", sorted(CELLS))
def test_a_cell_without_a_state_multiplies_no_zeros(cell: str, tmp_path: Path) -> None:
    candidate = verified(
        task("return self.cell(x)", "[torch.randn(5, 20)]", f"self.cell = nn.{cell}(20, 24)"), tmp_path
    )
    assert candidate.source.count("_kernel[grid]") == CELLS[cell]
    assert "zeros_kernel" not in candidate.source and "cell.weight_hh" not in candidate.source


def test_zeros_of_another_shape_or_dtype_stay(tmp_path: Path) -> None:
    forward = "return x + torch.zeros(3, 1, 1), torch.zeros(4, dtype=torch.float64) - x, x @ torch.zeros(4, 6)"
    verified(task(forward, "[torch.randn(5, 4)]"), tmp_path)
