"""What a class costs that does not become a task, or is not to be lost for want of time, and what is made once."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from sources import probe
from sources.cut.inferring import inferring
from sources.infer.constructor.constructions import build
from sources.infer.inputs import Tensor
from sources.infer.rewritten.ignored import without_ignored
from sources.infer.running.calls import call
from sources.infer.running.progress import Budget, TooMuchError
from sources.infer.runs import Runs, fitted
from sources.infer.search import Solution, Unsolved, solve
from sources.isolation import extend, isolated

TEXT = """import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.head = nn.Linear(dim, 4)

    def forward(self, x, targets=None):
        out = self.head(x)
        if self.training:
            assert targets is not None, "targets are to be given in training"
        return out.sigmoid()
"""
NET: dict[str, Any] = {
    "name": "Net", "source": TEXT, "told": {"sites": [], "defaults": {}, "users": []}, "lacks": [], "header": []
}  # fmt: skip
FIVE = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x5 and 8x4)"
BROKEN = TEXT.replace("self.head(x)\n", "self.head(x) @ torch.rand(3, 2)\n")


def untrained() -> str:
    return inferring(TEXT)


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


def names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the jobs of all forks call first, from now on."""
    found, run = list[str](), isolated

    def noted(job: Callable[[], dict[str, Any]], *limits: int) -> dict[str, Any]:
        whole = job.func if isinstance(job, functools.partial) else job
        name = whole.__code__.co_names[0] if "lambda" in whole.__name__ else whole.__name__
        found.append(f"{name} on meta" if isinstance(job, functools.partial) and "meta" in job.args else name)
        return run(job, *limits)

    monkeypatch.setattr(probe, "isolated", noted)
    return found


def test_a_text_that_runs_without_training_is_searched_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = names(monkeypatch)
    assert probe.attempt_one(NET, 60, tmp_path, {})["reason"] == ""
    assert asked.count("infer") == 2


def test_what_fails_as_before_without_training_is_not_searched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = names(monkeypatch)
    assert probe.attempt_one(NET | {"source": BROKEN}, 60, tmp_path, {})["reason"] == "inputs not inferred"
    assert asked.count("infer") == 1
    assert "fail_likewise" in asked


STAYS = [{"dim": "8"}, [["tensor", [3, 5], "float", 0]], FIVE]
GOES = [{"dim": "8"}, [["tensor", [3, 8], "float", 0]], "AssertionError: targets are to be given in training"]


@pytest.mark.parametrize(
    ("source", "failures", "alike"),
    [(TEXT, [STAYS, GOES], True), (untrained(), [STAYS], True), (untrained(), [STAYS, GOES], False)],
)
def test_one_failure_that_goes_is_reason_enough_to_search(
    source: str, failures: list[Any], alike: bool, tmp_path: Path
) -> None:
    cut = NET | {"source": source}
    found = isolated(lambda: {"reason": "", "alike": probe.fail_likewise(cut, failures, tmp_path)}, 5)
    assert found["alike"] == alike


def test_only_functions_are_watched_without_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = untrained() + "\n\nclass User(Net):\n    pass\n\n\ndef use():\n    return Net(3)(torch.ones(2, 3))\n"
    asked = names(monkeypatch)
    user = {"name": "User", "source": text, "wanted": "Net"}
    probe._seen(user, tmp_path)
    assert asked == ["watch"]
    assert "Net" in probe._seen(user | {"name": "use"}, tmp_path)
    assert asked[1:] == ["watch on meta"]


class Never(nn.Module):
    tried = 0

    def __init__(self, dim: int, depth: int, width: int) -> None:
        Never.tried += 1
        raise ValueError(f"dim, depth and width: {dim} {depth} {width}")


@pytest.mark.parametrize("constructed", [3, 24])
def test_a_constructor_is_tried_so_often(constructed: int) -> None:
    Never.tried = 0
    assert isinstance(solve(Never, {"nn": nn, "torch": torch}, "", constructed=constructed), Unsolved)
    assert Never.tried == constructed


def test_a_job_that_is_done_with_a_part_has_time_for_the_next() -> None:
    def burn(seconds: float) -> None:
        ends = time.process_time() + seconds
        while time.process_time() < ends:
            pass

    def job(more: bool) -> dict[str, Any]:
        burn(0.6)
        if more:
            extend(1)
        burn(0.6)
        return {"reason": ""}

    assert isolated(lambda: job(True), 1)["reason"] == ""
    assert isolated(lambda: job(False), 1)["reason"] == "timeout"
    extend(1)  # without a limit nothing is set that would end this process


class Wide(nn.Module):
    def __init__(self, rows: int = 4) -> None:
        super().__init__()
        self.table = torch.zeros(rows << 20)

    def forward(self, x: Any) -> Any:
        return x.repeat(1 << 22, 1).relu()


def test_what_there_is_no_memory_for_is_too_large() -> None:
    def calls() -> dict[str, Any]:
        _, _, error = call(Wide(), (Tensor((4, 16)),), Budget())
        try:
            build(Wide, {"rows": "512"}, {}, Budget())
        except TooMuchError:
            return {"reason": type(error).__name__}
        return {"reason": "made"}

    def built() -> dict[str, Any]:
        Wide(512)
        return {"reason": ""}

    assert isolated(calls, 5, 1 << 28)["reason"] == "TooMuchError"
    assert isolated(built, 5, 1 << 28)["reason"] == "too large"


class Counted(nn.Module):
    made = 0

    def __init__(self, dim: int) -> None:
        super().__init__()
        Counted.made += 1
        self.layer, self.frozen = nn.Linear(dim, dim), nn.Dropout().eval()

    def forward(self, x: Any, mask: Any) -> Any:
        return self.layer(x).relu()


def test_a_module_is_constructed_once_for_all_that_is_asked_of_it() -> None:
    runs = Runs(Counted, {}, 9)
    solution = Solution({"dim": "8"}, (Tensor((4, 8)), Tensor((4, 8))))
    found = without_ignored(solution, runs)
    assert found.specs[1] != solution.specs[1]
    assert runs(fitted(found, runs))
    assert Counted.made == 1
    module = runs.module(solution.arguments)
    assert module.training
    assert not module.get_submodule("frozen").training  # as it was constructed


@pytest.mark.parametrize(("rows", "costly"), [(4, False), (512, True)])
def test_what_costs_more_than_the_calls_themselves_is_tied_on_small_inputs(rows: int, costly: bool) -> None:
    runs = Runs(nn.Linear, {}, 9)
    size = {"in_features": "256", "out_features": "256"}
    assert not runs.keep(runs.weigh(Solution(size, (Tensor((rows, 256)),)))).heavy
    assert (runs.costly, runs.dear) == (costly, False)
