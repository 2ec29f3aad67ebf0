"""All programs of a launch run at a task's own sizes where those that ran tell that they end in time."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kdata.verify.beyond import whole
from kdata.verify.evidence.findings import Findings
from kdata.verify.judge import judge_files
from kdata.verify.options import Options

KERNEL = Path(__file__).with_name("kernels") / "good_affine.py"


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_as_long_as_there_is_time(patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    entirely = whole._entirely

    def noted(expected: Any, number: int, run: Any) -> tuple[str | None, float]:
        asked.append(number)
        return entirely(expected, number, run)

    monkeypatch.setattr(whole, "_entirely", noted)
    monkeypatch.setattr(whole, "PATIENCE", patience)
    receipt = judge_files(KERNEL, KERNEL, Options(targets=(), level="trust"))
    assert receipt.verdict == "verified"
    assert bool(asked) == bool(patience)
    assert any(check.name == whole.ALL for check in receipt.checks) != bool(patience), "a look left out is told"


@pytest.mark.parametrize("part", [1.0, 0.1])
def test_every_size_has_its_turn_before_others_draws_have(part: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five draws at two sizes; of what is taken for nine seconds or three there are twenty seconds' worth.

    Where it takes a ``part`` of that, there is more.
    """
    sizes, seconds = [0, 0, 0, 1, 1], [9.0, 9.0, 9.0, 3.0, 3.0]
    expected: Any = SimpleNamespace(trials=[{"variant": size} for size in sizes])
    ran: list[int] = []
    untold: Any = [
        (n, SimpleNamespace(cpu=s, value={"trials": [{"launches": [{"kernel": "k", "grid": [4]}], "programs": 4}]}))
        for n, s in enumerate(seconds)
    ]
    monkeypatch.setattr(whole, "_entirely", lambda expected, n, run: ran.append(n) or ("", part * seconds[n]))
    monkeypatch.setattr(whole, "_partly", lambda report: True)
    found = Findings()
    whole._entire(expected, untold, lambda *asked: pytest.fail("their cost is known"), found)
    assert ran == ([3, 0, 4] if part == 1.0 else [3, 0, 4, 1, 2])
    assert [check.passed for check in found.checks if check.name == whole.ALL] == [False] * (5 - len(ran))
