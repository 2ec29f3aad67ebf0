"""Zeros stand for inputs that a module takes and does not use: all that a task is given matters."""

from __future__ import annotations

from pathlib import Path

import torch

from kdata.task import execute
from tests.attempts import attempted

FORECAST = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Linear(64, 8)

    def forward(self, x, marks, seasons):
        assert marks.shape[0] == x.shape[0] and seasons.dtype == torch.long
        return self.lift(x) + 0 * marks.sum() + torch.zeros_like(seasons).sum()
"""
ALL = """
class Net(nn.Module):
    def forward(self, x):
        return torch.zeros(4, 3) * x.sum()
"""


def test_what_is_ignored_is_no_input(tmp_path: Path) -> None:
    found = attempted(FORECAST, tmp_path)
    assert not found["reason"], (found["reason"], found["detail"])
    assert [i["name"] for i in found["inputs"]] == ["x"]
    assert "It does not use ``marks``: zeros stand for it." in found["source"]
    program = execute(found["source"], found["name"])
    torch.manual_seed(0)
    (x,) = program.inputs()
    model = program.build()
    with torch.no_grad():
        torch.testing.assert_close(model(x), model.lift(x))
        assert model(torch.cat([x, x])).shape[0] == 2 * x.shape[0]  # the zeros follow its batch


def test_a_module_that_ignores_all_is_refused(tmp_path: Path) -> None:
    assert attempted(ALL, tmp_path)["reason"] == "output constant"
