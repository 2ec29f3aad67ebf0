"""What tells nothing more is not tried: arguments that fail alike, sizes when the budget is spent, weights without end."""

from __future__ import annotations

import gc
import resource
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from test_dear import SMALL, TASK
from torch import nn

from sources import written
from sources.infer.inputs import Tensor
from sources.infer.running import check as checking
from sources.infer.running.check import check
from sources.infer.running.memory import release
from sources.infer.running.rehearsal import Rehearsal
from sources.infer.runs import Runs
from sources.infer.search import MAX_ALIKE, MAX_MODULES, Solution, Unsolved, solve
from sources.infer.sizes import slots, tied
from sources.isolation import OutOfTimeError
from sources.watch import seen as watched
from sources.watch.capture import encoded

FOUND = Solution({"width": "64"}, (Tensor((4, 32, 64)), Tensor((4, 32, 64))))


class _Fails(nn.Module):
    """Fails in the same way, whatever it is constructed with, as soon as its input is of some width."""

    made = 0

    def __init__(self, dim: int, heads: int, depth: int, ratio: int) -> None:
        super().__init__()
        type(self).made += 1
        self.layer = nn.Linear(64, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise KeyError(str(self.layer(x).shape))


class _Further(_Fails):
    """The same, but each comes further than the one before."""

    made = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(self.made):
            x = self.layer(x)
        return super().forward(x)


@pytest.mark.parametrize(("kind", "most"), [(_Fails, MAX_ALIKE), (_Further, MAX_MODULES)])
def test_no_more_modules_are_searched_than_tell_something(
    kind: type[_Fails], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sources.infer.search.MAX_CALLS", 9)
    kind.made = 0
    outcome = solve(kind, {"nn": nn, "torch": torch}, "class _Fails: ...")
    assert isinstance(outcome, Unsolved) and "KeyError" in outcome.detail
    assert kind.made == most


def test_no_size_is_tried_when_the_budget_is_spent() -> None:
    asked: list[Solution] = []

    def runs(solution: Solution) -> bool:
        asked.append(solution)
        return False

    groups = tied(FOUND, slots(FOUND, ["x", "y"]), runs, spent=lambda: len(asked) >= 5)
    assert len(asked) == 5
    assert not any(free for _, free in groups)


def test_a_size_that_is_to_be_as_another_is_tried_with_one_other_value() -> None:
    asked: list[Solution] = []
    namespace = {"nn": nn}
    runs = Runs(nn.Linear, namespace, 16)
    found = Solution({"in_features": "16", "out_features": "8"}, (Tensor((4, 16)),))

    def counted(solution: Solution) -> bool:
        asked.append(solution)
        return runs(solution)

    groups = tied(found, slots(found, ["x"]), counted, said=runs.said)
    assert [[(s.kind, s.value) for s in group] for group, free in groups if free] == [
        [("init", 16), ("input", 16)],
        [("init", 8)],
        [("input", 4)],
    ]
    assert len(asked) == 2 + 1 + 1 + 1  # each of the two alone, the other two, and then both together


def test_dear_inputs_are_smaller_all_at_once_before_their_sizes_are_told_apart() -> None:
    asked: list[Solution] = []

    def runs(solution: Solution) -> bool:
        asked.append(solution)
        one, other = solution.specs
        assert isinstance(one, Tensor)
        return one == other and str(one.shape[2]) == solution.arguments["width"]

    every = slots(FOUND, ["x", "y"])
    groups = tied(FOUND, every, runs, small := {})
    assert asked[0].specs == (Tensor((4, 8, 64)), Tensor((4, 8, 64)))
    assert groups == tied(FOUND, every, runs)
    assert {(s.kind, s.index): n for s, n in small.items()} == {
        ("input", 0): 2,
        ("input", 1): 4,
        ("input", 2): 32,
        ("init", 0): 32,
    }


def test_a_task_whose_sizes_take_too_long_has_fixed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: Any) -> Any:
        raise OutOfTimeError

    monkeypatch.setattr(written, "tied", endless)
    found = slots(FOUND, ["x", "y"])
    groups, small = written.groups_of(FOUND, found, Runs(nn.Linear, {}, 16))
    assert groups == [((slot,), False) for slot in found] and not small


def test_a_class_that_was_seen_too_large_is_searched_a_smaller_one(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Solution({"in_features": "64", "out_features": "64"}, (Tensor((4, 64)),))
    seen = dict(zip(("arguments", "specs"), encoded(known), strict=True))
    assert watched.as_seen(nn.Linear, {}, seen, 16) is not None
    monkeypatch.setattr(watched, "MAX_PARAMETERS", 64 * 64)
    assert watched.as_seen(nn.Linear, {}, seen, 16) is None


class _Hoards(nn.Module):
    """Fails with tensors in its frame, and counts those of the calls before."""

    made: ClassVar[list[weakref.ref[torch.Tensor]]] = []
    alive: ClassVar[list[int]] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.alive.append(sum(reference() is not None for reference in self.made))
        held = x * 2
        self.made.append(weakref.ref(held))
        raise KeyError("nothing")


@pytest.mark.parametrize(
    "search", [solve, lambda kind, *_: [Runs(kind, {}, 16).fits(Solution({}, FOUND.specs[:1])) for _ in range(3)]]
)
def test_what_a_failed_call_held_is_gone_before_the_next(search: Callable[..., Any]) -> None:
    _Hoards.made.clear()
    _Hoards.alive.clear()
    gc.collect()
    gc.disable()
    try:
        search(_Hoards, {"torch": torch}, "")
    finally:
        gc.enable()
    assert len(_Hoards.alive) > 1
    assert not any(_Hoards.alive)


def _resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def test_free_memory_goes_back_to_the_system() -> None:
    tensors = [torch.ones(24_000) for _ in range(600)]
    last = tensors.pop()  # the heap cannot just end earlier
    held = _resident()
    del tensors
    release()
    assert _resident() < held - 40_000_000
    assert bool(last.all())


class _Locked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()
        self.layer = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with self.lock:
            answer: torch.Tensor = self.layer(x)
        return answer


def test_a_layer_with_a_lock_is_rehearsed() -> None:
    rehearsal = Rehearsal(nn.Sequential(_Locked()))
    assert rehearsal.call((Tensor((1, 8)),), None, False) is None
    foreseen = rehearsal.call((Tensor((1, 7)),), None, False)
    assert foreseen is not None and "cannot be multiplied" in str(foreseen[1])


@pytest.mark.parametrize(("small", "most"), [(SMALL, 2), (SMALL | {"features": 8}, 3)])
def test_a_dear_task_is_constructed_again_for_other_arguments_only(
    small: dict[str, int], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[weakref.ref[Any]] = []
    alive: list[int] = []
    build = checking.Program.build

    def noted(program: Any, *given: Any) -> Any:
        alive.append(sum(reference() is not None for reference in made))
        made.append(weakref.ref(module := build(program, *given)))
        return module

    monkeypatch.setattr(checking.Program, "build", noted)
    assert check(TASK.format(answer="self.layer(x).relu()"), "Net", small=small)["mode"] == "train"
    assert len(made) == most
    assert not any(alive), "two modules at once"
