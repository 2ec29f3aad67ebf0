"""What `kdata mine` tells at its end: what was found in each source, and why what was lost was."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from flows.mine_source import losses, mined, table

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
    row = mined(str(tmp_path / "lib"), out, None, 0, 1, 25)
    assert (row.found, row.cut, len(row.tasks), row.made) == (6, 3, 1, 1)
    assert row.reasons == {"abstract": 1, "no forward": 1, "duplicate": 1, "computes nothing": 1, "nondeterministic": 1}
    assert row.seconds > 0
    again = mined(str(tmp_path / "lib"), out, None, 0, 1, 25)
    assert (again.seconds, again.made, again.reasons, len(again.tasks)) == (0, 0, row.reasons, 1)
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
