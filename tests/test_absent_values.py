"""What a text leaves out, and what stands for that: None, tensors of no rows, settings that have a value if absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sources import probe
from sources.hints.demands import Demand, of_call
from sources.hints.guesses import values
from sources.hints.uses import Uses
from tests.attempts import attempted

SUMS = """class Net(nn.Module):
    def __init__(self, width, seq_len=None, more_len=None, mem_len=None, old_len=None):
        super().__init__()
        self.most = seq_len + more_len + mem_len + old_len
        self.table = nn.Embedding(self.most, width)

    def forward(self, x):
        return self.table(x % self.most).relu()
"""
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
SETTINGS = """class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.line = nn.Linear(config.hidden_size, config.hidden_size)
        if config.add_other_part and not config.plain:
            self.line = absent_everywhere(config)
        if getattr(config, "scale_parts", False):
            self.line = absent_everywhere(config)

    def forward(self, x):
        return self.line(x).relu()
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


@pytest.mark.parametrize("text", [SUMS, SCRIPTED, SCALAR], ids=["sums", "scripted", "scalar"])
def test_what_is_left_out_and_needed_is_given(text: str, tmp_path: Path) -> None:
    outcome = attempted(text, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]


def test_a_setting_that_only_decides_is_off_and_one_with_a_value_if_absent_has_that(tmp_path: Path) -> None:
    outcome = attempted(SETTINGS, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
    assert "add_other_part=False" in outcome["source"]
    assert "64" not in outcome["source"].partition("scale_parts=")[2].partition(")")[0]


@pytest.mark.parametrize("name", ["one", "two", "three"])
def test_where_words_only_raise_those_are_asked_for_that_do_not(name: str, tmp_path: Path) -> None:
    file, space = tmp_path / "net.py", dict[str, Any]()
    file.write_text(WORDS)
    exec(compile(WORDS, str(file), "exec"), space)
    with pytest.raises(NotImplementedError) as caught:
        space["task"](name, 1)
    assert Demand("name", name, ("'four'",)) in of_call(caught.value, str(file))


def test_something_for_each_of_several_names_is_a_dictionary() -> None:
    assert values("input_sizes", "Dict[str, int]", Uses())[0] == "{'a': 64, 'b': 64}"
    assert values("flags", "dict[str, bool] | None", Uses())[0] == "{'a': False, 'b': False}"
