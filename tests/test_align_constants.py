"""Alignment of tensors that are neither input nor parameter, of inputs that forward updates, and of views returned."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdata.align.errors import AlignError
from kdata.align.step import align_file
from tests.align_tasks import task, verified


def test_a_single_number_is_a_number_of_the_kernel(tmp_path: Path) -> None:
    source = verified(
        task("return x * torch.tensor(0.25) + torch.tensor([3.0])", "[torch.rand(4, 9)]"), tmp_path
    ).source
    assert "0.25" in source and "torch.tensor" not in source


@pytest.mark.parametrize("forward", ["(x * 1.0 - 0.0) / self.one + 0.0", "0.0 + self.one * (x + 0.0)", "x.exp() * 1.0"])
def test_arithmetic_that_does_nothing_is_not_written(forward: str, tmp_path: Path) -> None:
    source = verified(task(f"return torch.sin({forward})", "[torch.randn(4, 9)]", "self.one = 1.0"), tmp_path).source
    kernel = source.partition("@triton.jit")[2].partition("\n\n")[0]
    assert "sin(" in kernel and "1.0" not in kernel and "0.0" not in kernel


def test_a_number_that_is_loaded_is_not_broadcast_by_hand(tmp_path: Path) -> None:
    init = "self.scale = nn.Parameter(torch.tensor([0.5]))"
    source = verified(task("return x * self.scale + x", "[torch.randn(4, 9)]", init), tmp_path).source
    assert "scale = tl.load(scale_ptr)" in source and "broadcast_to" not in source


def test_a_table_of_numbers_is_looked_up_at_once(tmp_path: Path) -> None:
    forward = "table = torch.tensor([0.25, 0.5, 0.125])\nreturn (x * table.view(1, 3, 1)).sum(1)"
    source = verified(task(forward, "[torch.rand(2, 3, 5)]"), tmp_path).source
    assert all(number in source for number in ("0.25", "0.5", "0.125"))
    assert "False" not in source and "True" not in source


def test_remainders_by_a_number_ask_for_one_sign(tmp_path: Path) -> None:
    source = verified(task("return x % 0.75, x // 0.75", "[torch.randn(4, 9)]"), tmp_path).source
    assert "< 0" in source and "signbit" not in source and "dtype is" not in source


def test_indices_are_compared_as_they_are(tmp_path: Path) -> None:
    forward = "a, b, c = x.chunk(3, 1)\nreturn torch.cat([a.exp(), b, c], 1)"
    source = verified(task(forward, "[torch.randn(4, 9, 5)]"), tmp_path).source
    assert "int64" not in source


def test_edges_that_repeat_are_minima_and_maxima(tmp_path: Path) -> None:
    forward = 'return torch.nn.functional.pad(x, (1, 1, 2, 2), mode="replicate")'
    source = verified(task(forward, "[torch.randn(2, 4, 9, 5)]"), tmp_path).source
    assert source.count("tl.maximum(") == source.count("tl.minimum(") == 2 and "<=" not in source


def test_sums_of_products_are_not_cast_to_what_they_are(tmp_path: Path) -> None:
    forward = "return torch.softmax(torch.relu(x @ x.t()) * 0.1, -1)"
    source = verified(task(forward, "[torch.randn(8, 32)]"), tmp_path).source
    assert "tl.dot(" in source and ".to(tl.float32)" not in source


def test_a_choice_asks_once(tmp_path: Path) -> None:
    forward = "return torch.cat([x.exp() + 1, x.sin()], 1)"
    source = verified(task(forward, "[torch.randn(4, 9)]"), tmp_path).source
    assert source.count("tl.where(") == 2 and "int64" not in source


def test_what_is_taken_away_stands_behind(tmp_path: Path) -> None:
    forward = 'return torch.nn.functional.pad(x, (2, 2), mode="reflect")'
    source = verified(task(forward, "[torch.randn(4, 9)]"), tmp_path).source
    assert "tl.abs(" in source and "* -1" not in source


def test_whole_numbers_times_one_are_none_any_more(tmp_path: Path) -> None:
    forward = "return x * 1.0, (x * 1.0) // 2, (x > 3) * 1.0 / 2"
    source = verified(task(forward, "[torch.randint(0, 9, (4, 9))]"), tmp_path).source
    assert "* 1.0" not in source and ".to(tl.float32)" in source


def test_a_small_table_is_written_down(tmp_path: Path) -> None:
    forward = "return x @ torch.tensor([[0.5, 0.25, 2.0], [1.0, -1.0, 0.125]])"
    source = verified(task(forward, "[torch.rand(6, 2)]"), tmp_path).source
    assert "device=x.device" in source


def test_a_constant_of_the_module_or_the_text_is_read_where_it_is(tmp_path: Path) -> None:
    text = "MEAN = torch.tensor([0.4, 0.5, 0.6])\n"
    init = "self.weight = [torch.tensor([1.0, 2.0, 3.0])]"
    forward = "return (x - MEAN.view(1, 3, 1)) * self.weight[0].view(1, 3, 1)"
    source = verified(task(forward, "[torch.rand(2, 3, 5)]", init, text), tmp_path).source
    assert "self.weight[0].to(x.device)" in source and "MEAN = torch.tensor" in source


def test_a_large_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "task.py"
    path.write_text(task(f"return x + torch.tensor({list(range(100))})", "[torch.rand(4, 100)]"))
    with pytest.raises(AlignError, match="100 numbers"):
        align_file(path)


def test_checks_of_values_are_dropped(tmp_path: Path) -> None:
    forward = "torch._assert_async((torch.tensor(0.5) >= 0).all(), 'negative')\nreturn x * 0.5"
    assert "assert" not in verified(task(forward, "[torch.rand(4, 9)]"), tmp_path).source


def test_an_input_updated_in_place_is_returned_as_itself(tmp_path: Path) -> None:
    source = verified(task("x += 1\nreturn x.relu_()", "[torch.randn(4, 9)]"), tmp_path).source
    assert "x.copy_(" in source and "return x\n" in source


def test_a_view_returned_starts_at_its_own_element(tmp_path: Path) -> None:
    forward = "y = x.exp()\nreturn y[:, 1:3], y[:, 0], y"
    source = verified(task(forward, "[torch.rand(4, 3, 5)]"), tmp_path).source
    assert "[:, 1:3]" in source and "[:, 0]" in source


def test_a_constant_beside_integers_is_one(tmp_path: Path) -> None:
    forward = "rows, columns = torch.triu_indices(5, 5)\nreturn x[..., rows, columns]"
    source = verified(task(forward, "[torch.randn(6, 5, 5)]"), tmp_path).source
    assert "0.0" not in source
