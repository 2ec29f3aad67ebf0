"""Operators along a dimension: one short kernel each, a loop over what is reduced, whichever dimension that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdata.statistics import lines
from tests.align_tasks import task, verified

CUBE, LONG = "[torch.randn(3, 70, 9)]", "[torch.randn(3, 9000)]"
# What is said, the inputs, and the most lines that the text may have, blank ones not counted.
ALONG = {
    "sum over the middle": ("return x.sum(1)", CUBE, 40),
    "softmax over the middle": ("return torch.softmax(x, 1)", CUBE, 65),
    "long softmax": ("return torch.softmax(x, 1)", LONG, 45),
    "long sum": ("return x.sum(1)", LONG, 35),
    "sum of everything": ("return x.sum()", "[torch.randn(40, 500)]", 35),
    "root mean square over the middle": ("return x / (x.square().mean(1, keepdim=True) + 1e-5).sqrt()", CUBE, 55),
    "norm of everything": ("return x / torch.norm(x)", "[torch.randn(40, 500)]", 40),
    "group norm": ("return nn.functional.group_norm(x, 2)", "[torch.randn(2, 4, 3, 4)]", 65),
    "running sum": ("return torch.cumsum(x, 1)", LONG, 40),
    "running product over the middle": ("return torch.cumprod(1 + 0.1 * x, 1)", CUBE, 65),
    "largest values": ("return torch.max(x, dim=1)[0]", CUBE, 40),
}


@pytest.mark.parametrize("name", sorted(ALONG))
def test_it_is_one_short_kernel(name: str, tmp_path: Path) -> None:
    forward, inputs, most = ALONG[name]
    source = verified(task(forward, inputs), tmp_path).source
    assert source.count("_kernel[grid]") == 1 and lines(source) <= most
    assert "combine_" not in source and "with_index" not in source


def test_a_batch_norm_in_training_is_one_kernel_beside_its_counter(tmp_path: Path) -> None:
    init = "self.norm = nn.BatchNorm2d(6)"
    source = verified(task("return self.norm(x)", "[torch.randn(3, 6, 4, 5)]", init), tmp_path).source
    assert source.count("_kernel[grid]") == 2 and source.count("tl.store(") == 4


def test_rows_of_a_middle_dimension_have_an_outer_and_an_inner_part(tmp_path: Path) -> None:
    source = verified(task("return x.amax(1)", CUBE), tmp_path).source
    assert "inner = row %" in source and "outer = row //" in source


def test_names_have_the_case_of_the_task(tmp_path: Path) -> None:
    inputs = "[torch.randn(20, 30), torch.randn(30, 40)]"
    source = verified(task("return A @ B", inputs, parameters="A, B"), tmp_path).source
    assert "def matmul(A, B):" in source and "A_ptr" in source and "b_ptr" not in source
