"""The candidate's side on a GPU, without one: what it holds while it is asked about one size after another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kdata.verify.gpu import host


def test_what_was_made_for_other_sizes_is_given_up_before_more_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[int] = []

    class Full:
        def __init__(self, *_: Any) -> None:
            assert not alive
            alive.append(1)

        def __del__(self) -> None:
            alive.clear()

    class Peer:
        def __init__(self, _: Path) -> None:
            self.left: list[Any] = [{"do": "own"}, {"do": "own"}, None]

        def question(self) -> Any:
            return self.left.pop(0)

        def answer(self, said: dict[str, Any]) -> None:
            assert not said

    for name, value in (("Full", Full), ("Peer", Peer), ("_begin", lambda *_: None)):
        monkeypatch.setattr(host, name, value)
    host.serve({"mode": "eval", "tf32": False}, Path())
