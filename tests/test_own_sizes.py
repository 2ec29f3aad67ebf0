"""What the parent does at a task's own sizes on a GPU, without one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kdata.verify.exchange.scratch import OWN
from kdata.verify.gpu import full
from kdata.verify.reference.styles import BITS, ON_DEVICE

FAULT = {"fault": ["bad task", "at its own sizes: device-side assert triggered"]}
ADMITTED = {"given": {}, "manifest": []}


def rolls(monkeypatch: pytest.MonkeyPatch, folder: Path, *answers: dict[str, Any]) -> list[bool]:
    """Whether integers varied in each of the reference's processes that were asked; each answers so."""
    asked: list[bool] = []
    left = list(answers)

    @contextmanager
    def admitted(*given: Any) -> Iterator[Any]:
        asked.append(given[-1])
        (folder / OWN).touch()
        yield SimpleNamespace(folder=folder), left.pop(0)

    monkeypatch.setattr(full, "_admitted", admitted)
    host = SimpleNamespace(folder=folder, ask=lambda question, seconds: {})
    with full.opened(None, "train", None, 1, host):  # type: ignore[arg-type]
        return asked


def test_integers_whose_order_says_something_do_not_vary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert rolls(monkeypatch, tmp_path, ADMITTED) == [True]
    assert rolls(monkeypatch, tmp_path, FAULT | {"varied": True}, ADMITTED) == [True, False]
    with pytest.raises(full.UnmeasuredError, match="assert"):
        rolls(monkeypatch, tmp_path, FAULT | {"varied": False})


def test_what_is_compared_comes_right_after_a_call_on_inputs_of_another_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def ask(_: Any, question: dict[str, Any], __: float = 0.0) -> dict[str, Any]:
        asked.append((question["do"], ON_DEVICE[question["seed"] >> BITS]))
        return {"launches": 1}

    monkeypatch.setattr(full.Full, "ask", ask)
    monkeypatch.setattr(full.Full, "compare", lambda _, seed: seed)
    monkeypatch.setattr(full.Full, "compare_structure", lambda *_: None)
    full.Full(None, None, {}).check(draws=1)  # type: ignore[arg-type]
    assert asked == [("warm", "banded"), ("watch", "natural")]
