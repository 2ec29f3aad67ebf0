"""Mining: when a class is given up: what was tried often is tried in no further way, nor what fails alike each time."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from sources import probe, taught
from sources.infer import search
from sources.infer.constructor.trouble import Trouble
from sources.infer.input_search import Tried
from sources.isolation import allowance, isolated
from tests.attempts import attempted

FAILS_IN_TRAINING = """
class Net(nn.Module):
    def forward(self, x):
        if self.training:
            raise NotImplementedError("no training")
        return x.relu()
"""


@pytest.mark.parametrize(("ways", "seconds", "made"), [(1, 60, True), (0, 60, False), (1, 0, False)])
def test_what_was_tried_often_is_tried_in_no_further_way(
    ways: int, seconds: int, made: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "MOST_WAYS", ways)
    monkeypatch.setattr(probe, "LAST_BEGUN", seconds)
    assert (attempted(FAILS_IN_TRAINING, tmp_path)["reason"] == "") == made


@pytest.mark.parametrize(("ways", "watched"), [(2, ["a", "b"]), (1, ["a"]), (0, [])])
def test_what_was_tried_often_is_looked_for_at_no_further_user(
    ways: int, watched: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[str]()
    monkeypatch.setattr(probe, "_seen", lambda user, _: seen.append(user["name"]) or {})
    monkeypatch.setattr(probe, "infer", lambda *_: {"reason": "inputs not inferred", "detail": ""})
    users = [{"name": name, "source": "", "wanted": "Net"} for name in "ab"]
    cut = {"name": "Net", "source": "", "told": {"users": users}, "lacks": []}
    probe._tried(cut, 60, tmp_path, {}, allowance(ways, 60))
    assert seen == watched


@pytest.mark.parametrize(("ways", "seconds", "asked"), [(2, 60, 2), (1, 60, 1), (2, 0, 1)])
def test_what_was_tried_often_has_no_further_teacher(
    ways: int, seconds: int, asked: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = list[str]()

    def attempt_one(cut: dict[str, Any], *_: object) -> dict[str, Any]:
        tried.append(cut["told"]["seen"]["arguments"])
        return isolated(lambda: {"reason": "inputs not inferred"}, 1)

    monkeypatch.setattr(taught, "MOST_WAYS", ways)
    monkeypatch.setattr(taught, "LAST_BEGUN", seconds)
    monkeypatch.setattr(taught, "attempt_one", attempt_one)
    teachers = [{"name": n, "source": "", "wanted": "", "symbol": n, "answer": [n, None]} for n in "ab"]
    taught.attempt({"cuts": [{"told": {}, "teachers": teachers}], "operators": 60, "enough": 1}, tmp_path)
    assert len(tried) == asked


class Sized(nn.Module):
    def __init__(self, width: int, depth: int, ratio: float) -> None:
        super().__init__()
        self.sizes = width, depth, ratio

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def test_modules_that_fail_alike_end_a_search_though_another_came_further(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[dict[str, str]]()

    class Failing:
        def __init__(self, module: nn.Module, arguments: dict[str, str], *_: object) -> None:
            tried.append(arguments)

        def run(self) -> Tried:
            return Tried(trouble=Trouble("TypeError: no"), reached=9 if len(tried) == 1 else 5)

    monkeypatch.setattr(search, "InputSearch", Failing)
    search.solve(Sized, globals(), inspect.getsource(Sized))
    assert 1 + search.MAX_ALIKE <= len(tried) < search.MAX_MODULES
