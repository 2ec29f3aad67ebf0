"""What a text leaves out, and what stands for that: None, tensors of no rows, settings that have a value if absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sources import probe
from sources.hints.demands import Demand, of_call
from tests.attempts import attempted

SCRIPTED = """class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.of_x, self.of_places = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, mask: torch.Tensor = torch.ones((0, 0)), pos_emb: torch.Tensor = torch.empty(0)):
        if mask.size(0) > 0:
            x = x.masked_fill(mask.unsqueeze(-1) == 0, 0.0)
        return self.of_x(x) * self.of_places(pos_emb)
"""
SCALAR = """class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.line = nn.Linear(dim, 1)

    def forward(self, hidden, target=None, mask: torch.Tensor = torch.tensor(0)):
        return self.line(hidden).sigmoid() * mask.transpose(-1, -2)
"""
WORDS = """def task(name, x):
    if name == "one" or name == "two":
        raise NotImplementedError("not for tasks of this kind")
    if name == "three":
        raise NotImplementedError("nor for these")
    if name == "four":
        return x
"""


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


@pytest.mark.parametrize("text", [SCRIPTED, SCALAR], ids=["scripted", "scalar"])
def test_what_is_left_out_and_needed_is_given(text: str, tmp_path: Path) -> None:
    outcome = attempted(text, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]


@pytest.mark.parametrize("name", ["one", "two", "three"])
def test_where_words_only_raise_those_are_asked_for_that_do_not(name: str, tmp_path: Path) -> None:
    file, space = tmp_path / "net.py", dict[str, Any]()
    file.write_text(WORDS)
    exec(compile(WORDS, str(file), "exec"), space)
    with pytest.raises(NotImplementedError) as caught:
        space["task"](name, 1)
    assert Demand("name", name, ("'four'",)) in of_call(caught.value, str(file))
