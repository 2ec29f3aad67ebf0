"""Half precision that a model's text asks for: parameters in it, and roundings on the way."""

from __future__ import annotations

from pathlib import Path

from tests.align_tasks import task, verified

INPUTS = "[torch.randn(6, 70), torch.randn(6, 70)]"


def test_parameters_may_be_made_half_precision(tmp_path: Path) -> None:
    init = "self.scale = nn.Linear(70, 5).half()"
    source = verified(task("return torch.relu(self.scale(x))", "[torch.randn(6, 70).half()]", init), tmp_path).source
    assert "nn.Linear(70, 5).half()" in source


def test_a_rounding_on_the_way_stays(tmp_path: Path) -> None:
    text = task("return x.half().float() * y + x.to(torch.bfloat16).float()", INPUTS, parameters="x, y")
    source = verified(text, tmp_path).source
    assert "x.to(tl.float16).to(tl.float32) * y + x.to(tl.bfloat16).to(tl.float32)" in source


def test_operators_before_a_cast_round_as_they_do_in_eager_mode(tmp_path: Path) -> None:
    text = task("return (x.to(torch.bfloat16) * 2 + 1).float() + y", INPUTS, parameters="x, y")
    assert verified(text, tmp_path).source.count(".to(tl.bfloat16)") == 3


def test_nothing_else_is_rounded(tmp_path: Path) -> None:
    text = task("return torch.sigmoid(torch.relu(x) * 3)", "[torch.randn(6, 70).half()]")
    assert "tl.float16" not in verified(text, tmp_path).source
