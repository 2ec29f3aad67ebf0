"""What `kdata mine` tells at its end: what was found in each source, and why what was lost was."""

from __future__ import annotations

import io
import re
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from flows.mine_source import Mined, losses, mined, table
from sources.fetch.texts import SourceError

NETS = """import torch
import torch.nn as nn


class Squash(nn.Module):
    def forward(self, x):
        return torch.tanh(x) * 0.5


class Nothing(nn.Module):
    pass


class Same(nn.Module):
    def forward(self, x):
        return x.view(-1)


class Lost(nn.Module):
    def forward(self, x):
        raise RuntimeError("not on this machine")


class Drawn(nn.Module):
    def forward(self, x):
        return torch.empty_like(x).random_() + x


class Twin(nn.Module):
    def forward(self, x):
        return torch.tanh(x) * 0.5
"""


def test_every_definition_of_a_source_is_a_task_or_has_its_reason(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "nets.py").write_text(NETS)
    out = str(tmp_path / "out")
    (row,) = mined([str(tmp_path / "lib")], out, None, 0, 1, 25)
    assert (row.found, row.cut, len(row.tasks), row.made) == (6, 3, 1, 1)
    assert row.reasons == {"abstract": 1, "no forward": 1, "duplicate": 1, "computes nothing": 1, "nondeterministic": 1}
    assert row.seconds > 0 and 100 << 20 < row.memory < 1 << 30
    (again,) = mined([str(tmp_path / "lib")], out, None, 0, 1, 25)
    assert (again.seconds, again.memory, again.made, again.reasons) == (0, 0, 0, row.reasons)
    assert len(again.tasks) == 1
    shown = io.StringIO()
    Console(file=shown, width=200).print(table([row, again]), losses([row, again]))
    (whole,) = (line for line in shown.getvalue().splitlines() if " all " in line)
    assert re.findall(r"[\d%]+", whole)[:7] == ["12", "6", "2", "20%", "50%", "2", "0"]
    told = re.findall(r"(\d) │ ([a-z ]+?) +│", shown.getvalue().partition("Not made into tasks")[2])
    assert (
        told
        == [("1", reason) for reason in ("abstract", "computes nothing", "duplicate", "no forward", "nondeterministic")]
        * 2
    )


def test_sources_are_mined_side_by_side_and_none_where_one_cannot_be_had(tmp_path: Path) -> None:
    for name, function in (("one", "tanh"), ("other", "sigmoid"), ("third", "erf")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "nets.py").write_text(NETS.replace("torch.tanh", f"torch.{function}"))
    out, sources = tmp_path / "out", [str(tmp_path / name) for name in ("one", "other", "third")]
    rows = mined(sources, str(out), None, 0, 2, 25)
    assert [row.source for row in rows] == sources
    shown = io.StringIO()
    Console(file=shown, width=80).print(table(rows))
    assert re.findall(r"^│ (\w+) +│", shown.getvalue(), re.MULTILINE) == ["one", "other", "third", "all"]
    for row, function in zip(rows, ("tanh", "sigmoid", "erf"), strict=True):
        (task,) = row.tasks
        assert f"torch.{function}(x)" in task.source
    with pytest.raises(SourceError):
        mined([sources[0], str(tmp_path / "nowhere")], str(tmp_path / "none"), None, 0, 2, 25)
    assert not (tmp_path / "none").exists()


def test_a_repository_is_called_by_its_name() -> None:
    sources = ["git:https://github.com/user/nets@1f2e", "git:/srv/user+nets/repo", "pypi:timm"]
    shown = io.StringIO()
    Console(file=shown, width=80).print(table([Mined(s, (), 0, Counter(), 0.0, 0, 0) for s in sources]))
    text = "".join(re.findall(r"^│ (\S+) +│", shown.getvalue(), re.MULTILINE))
    assert text == "user/nets@1f2euser+nets/repopypi:timmall"
