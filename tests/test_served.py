"""The candidate's side on a GPU, without one: what it holds while it is asked about one size after another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kdata.verify.gpu import host


def test_what_was_made_for_other_sizes_is_given_up_and_what_was_imported_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alive: list[int] = []
    handed: list[Any] = []

    class Full:
        imported = "what the first one imported"

        def __init__(self, *given: Any) -> None:
            assert not alive
            alive.append(1)
            handed.append(given[-1])

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
    assert handed == [None, Full.imported]
