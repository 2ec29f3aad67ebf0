"""All programs of a launch run at a task's own sizes where those that ran tell that they end in time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kdata.verify.beyond import whole
from kdata.verify.judge import judge_files
from kdata.verify.options import Options

KERNEL = Path(__file__).with_name("kernels") / "good_affine.py"


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_as_long_as_there_is_time(patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    entirely = whole._entirely

    def noted(expected: Any, number: int, run: Any) -> str | None:
        asked.append(number)
        return entirely(expected, number, run)

    monkeypatch.setattr(whole, "_entirely", noted)
    monkeypatch.setattr(whole, "PATIENCE", patience)
    receipt = judge_files(KERNEL, KERNEL, Options(targets=(), level="trust"))
    assert receipt.verdict == "verified"
    assert bool(asked) == bool(patience)
    assert any(check.name == whole.ALL for check in receipt.checks) != bool(patience), "a look left out is told"
