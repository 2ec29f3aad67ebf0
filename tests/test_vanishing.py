"""Parts that do not matter because weights behind them start as nothing: found, and mended or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from kdata.task import execute
from sources import probe
from sources.infer.rewritten.drawn import NOTE
from sources.infer.running.vanishing import REASON, hidden
from tests.attempts import attempted

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
SCALED = """
class Net(nn.Module):
    def __init__(self, dim=16, layer_scale_init_value=1e-6):
        super().__init__()
        self.f = nn.Linear(dim, dim)
        self.gamma = nn.Parameter({start})

    def forward(self, x):
        return x + self.gamma * self.f(x)
"""
ZEROS, SCALE, UNKNOWN = "torch.zeros(1)", "layer_scale_init_value * torch.ones(dim)", "self.f.weight.new_zeros(1)"
UNSAID = "self.f.bias.detach()[:1] - self.f.bias.detach()[:1]"
NORMED = """
class Net(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn = nn.BatchNorm2d(channels)
        nn.init.constant_(self.bn.weight, 0)

    def forward(self, x):
        return F.relu(x + self.bn(self.conv(x)))
"""


def _outcome(text: str, scratch: Path) -> dict[str, Any]:
    cut = {"source": HEAD + text, "name": "Net", "lacks": [], "told": {"sites": [], "defaults": {}}}
    probe.warm()
    return probe.attempt_one(cut, 2000, scratch)


@pytest.mark.parametrize("text", [*(SCALED.format(start=start) for start in (ZEROS, SCALE, UNKNOWN)), NORMED])
def test_a_branch_behind_nothing_is_given_weight(text: str, tmp_path: Path) -> None:
    outcome = _outcome(text, tmp_path)
    assert not outcome["reason"], outcome["detail"]
    assert outcome["source"].startswith(f"# {NOTE}\n")
    program = execute(outcome["source"], outcome["name"])
    assert not hidden(program.build(), program.inputs())


def test_a_branch_behind_nothing_that_cannot_be_mended_is_no_task(tmp_path: Path) -> None:
    text = SCALED.format(start=UNSAID).replace(", layer_scale_init_value=1e-6", "")  # nothing says that it is nothing
    assert _outcome(text, tmp_path)["reason"] == REASON


class _Residual(nn.Module):
    def __init__(self, scale: float) -> None:
        super().__init__()
        self.inner, self.unused = nn.Linear(8, 8), nn.Linear(8, 8)
        self.scale = nn.Parameter(torch.full((8,), scale))
        self.position = nn.Parameter(torch.zeros(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.scale * torch.tanh(self.inner(x + self.position))


@pytest.mark.parametrize(("scale", "found"), [(0.0, True), (1e-6, True), (0.5, False)])
def test_weights_are_hidden_by_a_scale_and_not_by_a_position(scale: float, found: bool) -> None:
    names = hidden(_Residual(scale), [torch.randn(4, 8)])
    assert names == (["inner.weight", "inner.bias"] if found else [])


def test_a_view_of_what_starts_as_nothing_may_be_answered(tmp_path: Path) -> None:
    text = """class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.line, self.deviation = nn.Linear(width, width), nn.Parameter(torch.zeros(1, width))

    def forward(self, x):
        mean = self.line(x)
        deviation = self.deviation.expand_as(mean)
        return mean, deviation, deviation.exp()
"""
    outcome = attempted(text, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
