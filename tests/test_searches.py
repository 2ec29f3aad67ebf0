"""Mining: what the searches for one class take together, and which of them is not made, as one before failed so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sources import probe, searches
from sources.infer.input_search import NOT_INFERRED
from sources.infer.running.check import TOO_LARGE
from sources.infer.running.progress import BUDGET
from sources.infer.search import Solution, Unsolved
from sources.searches import LEAST, MOST, Searches
from tests.attempts import attempted
from tests.test_given_up import FAILS_IN_TRAINING

NET = "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x.relu()\n"
FAILED = {"reason": TOO_LARGE, "detail": "of the first"}


@pytest.mark.parametrize(
    ("starts", "program", "known"),
    [(["a"], "1", True), (["b", "a"], "1", True), (["c"], "1", False), (["a"], "2", False)],
)
def test_what_begins_with_no_more_than_what_failed_fails(starts: list[str], program: str, known: bool) -> None:
    made = Searches()
    assert made.known(lambda: ("1", [])) is None
    made.note({**FAILED, "work": BUDGET, "begins": ["1", ["a", "b"]]})
    assert made.known(lambda: (program, starts)) == (FAILED | {"work": 0.0} if known else None)


def test_searches_take_only_so_much_together() -> None:
    made = Searches()
    for strange in ({}, {"work": "much"}, {"begins": 3}, {"begins": ["1", None]}, {"work": MOST}):
        made.note({"reason": "timeout", **strange})
    assert not made.spent()  # one call too much counts as no second search
    made.note({"reason": "timeout", "work": BUDGET})
    assert made.spent()


@pytest.mark.parametrize(("most", "made"), [(MOST, True), (0, False)])
def test_what_took_much_is_tried_in_no_further_way(
    most: float, made: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "MOST", most)
    assert (attempted(FAILS_IN_TRAINING, tmp_path)["reason"] == "") == made


@pytest.mark.parametrize(("work", "made"), [(2 * LEAST, 1), (LEAST / 2, 3)])
def test_no_search_is_made_twice(work: float, made: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a class that was seen with the arguments that the package says: once more from smaller models, and unseen."""
    begun = tmp_path / "begun"
    begun.touch()

    def solve(*_: object, **__: object) -> Unsolved:
        with begun.open("a") as file:
            file.write("x")
        return Unsolved(TOO_LARGE, "", work=work)

    monkeypatch.setattr(probe, "solve", solve)
    sites = [{"positional": [], "named": {}}]
    told: dict[str, Any] = {"sites": sites, "defaults": {}, "users": [], "seen": {"arguments": {}, "specs": None}}
    cut = {"name": "Net", "source": NET, "told": told, "lacks": [], "header": []}
    assert probe.attempt_one(cut, 60, tmp_path)["reason"] == TOO_LARGE
    assert len(begun.read_text()) == made


@pytest.mark.parametrize(("text", "found"), [(NET, Solution), (NET.replace("x.relu()", "3"), Unsolved)])
def test_a_search_tells_how_much_work_it_was(text: str, found: type) -> None:
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    outcome = probe.solve(namespace["Net"], namespace, text, work=100)
    assert isinstance(outcome, found)
    assert outcome.work > 1
    assert not isinstance(outcome, Unsolved) or outcome.reason == NOT_INFERRED
