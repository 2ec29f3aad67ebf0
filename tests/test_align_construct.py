"""What a candidate keeps of its task's text, and how long it becomes."""

from __future__ import annotations

import ast
from pathlib import Path

from kdata.align.construct import drop_idle_attributes
from tests.align_tasks import task, verified

TEXT = '''
import os

FUSED = "FUSED" in os.environ

def use_fused():
    """Whether to."""
    return FUSED

def width():
    """How wide."""
    return 8
'''


def test_attributes_that_only_the_old_forward_read_go_with_what_they_needed(tmp_path: Path) -> None:
    init = "self.fused = use_fused()\nself.out = width()\nself.fc = nn.Linear(5, self.out)"
    forward = "return F.gelu(self.fc(x)) if self.fused else self.fc(x)"
    source = verified(task(forward, "[torch.rand(4, 5)]", init, TEXT), tmp_path).source
    assert "import os" not in source and "FUSED" not in source and "def width" in source
    assert "How wide" not in source, "docstrings tell how to use a module"


def test_a_condition_that_names_something_stays() -> None:
    tree = ast.parse("def init(self):\n    if (n := self.out) > 4:\n        self.fused = fused()\n    self.rows = n\n")
    drop_idle_attributes(tree.body, {"fused"}, {"fused"})
    assert "n := self.out" in ast.unparse(tree) and "fused" not in ast.unparse(tree)


def test_a_condition_goes_with_all_that_it_decides(tmp_path: Path) -> None:
    init = "self.out = 8\nif self.out > 4:\n    self.fused = use_fused()\n"
    init += "if self.out > 5:\n    self.fused = use_fused()\nelse:\n    self.none = 3\nself.fc = nn.Linear(5, self.out)"
    source = verified(task("return self.fc(x)", "[torch.rand(4, 5)]", init, TEXT), tmp_path).source
    assert "self.out > 4" not in source and "pass" not in source and "if not self.out > 5" in source


def test_names_that_a_text_says_twice_keep_both(tmp_path: Path) -> None:
    text = "TABLE = [1.0, 2.0, 4.0]\nTABLE = [n / 2 for n in TABLE]\n"
    init = "self.register_buffer('table', torch.tensor(TABLE))"
    assert (
        verified(task("return x * self.table", "[torch.rand(6, 3)]", init, text), tmp_path).source.count("TABLE =") == 2
    )


def test_what_constructors_count_is_there(tmp_path: Path) -> None:
    init = "global MADE\nMADE += 1\nself.part = nn.Linear(3, 3)"
    assert (
        "MADE = 0" in verified(task("return self.part(x)", "[torch.rand(6, 3)]", init, "MADE = 0\n"), tmp_path).source
    )


def test_a_batch_norm_after_a_convolution_is_short(tmp_path: Path) -> None:
    init = "self.conv = nn.Conv2d(3, 64, 3, padding=1, bias=False)\nself.norm = nn.BatchNorm2d(64)"
    source = verified(
        task("return F.relu(self.norm(self.conv(x)))", "[torch.rand(4, 3, 32, 32)]", init), tmp_path
    ).source
    assert source.count("@triton.jit") <= 4 and len(source.splitlines()) < 300


def test_a_logarithm_to_base_ten_has_a_helper(tmp_path: Path) -> None:
    forward = "return torch.log10(x) + torch.asinh(x) + torch.atanh(x / 2) + torch.acosh(x + 1)"
    assert "def log10" in verified(task(forward, "[torch.rand(6, 7) + 0.1]"), tmp_path).source


def test_layers_that_are_set_by_name(tmp_path: Path) -> None:
    init = "for name in ('first', 'second'):\n    self.__setattr__(name, nn.Linear(5, 5))"
    source = verified(task("return self.second(self.first(x))", "[torch.rand(4, 5)]", init), tmp_path).source
    assert "setattr(self, name" in source
