"""Calls that are dear are few: inputs of own sizes once, what takes several runs at smaller ones, none that cannot help."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from sources import probe
from sources.cut.slicer import ABSENT
from sources.infer.inputs import Tensor
from sources.infer.rewritten.given import given
from sources.infer.running import calls
from sources.infer.running import check as checking
from sources.infer.running.calls import call
from sources.infer.running.check import UnfitError, Work, check
from sources.infer.running.initial import quicken
from sources.infer.running.progress import Budget, TooMuchError
from sources.infer.running.rehearsal import Rehearsal
from sources.infer.running.repeated import REPEATED
from sources.infer.search import Solution, solve
from sources.infer.sizes import Slot, assigned, slots, tied
from sources.text.on_cpu import respelled

TASK = """import torch


class Net(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layer = torch.nn.Linear(features, features)

    def forward(self, x):
        return {answer}


features = 64
batch_size = 264
length = 64


def get_inputs():
    return [torch.randn(batch_size, length, features)]


def get_init_inputs():
    return [features]
"""
SMALL = {"batch_size": 4, "length": 8}


def shapes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shapes of the inputs of all runs of a check from now on."""
    seen, run = list[tuple[int, ...]](), checking._run

    def noted(module: Any, inputs: list[Any], *given: Any, **named: Any) -> Any:
        seen.append(tuple(inputs[0].shape))
        return run(module, inputs, *given, **named)

    monkeypatch.setattr(checking, "_run", noted)
    return seen


def test_a_dear_task_is_run_once_at_its_own_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = shapes(monkeypatch)
    found = check(TASK.format(answer="self.layer(x).relu()"), "Net", small=SMALL)
    assert found["inputs"][0]["shape"] == [264, 64, 64]
    assert seen.count((264, 64, 64)) == 1
    assert seen.count((4, 8, 64)) > 2


def test_a_cheap_task_is_looked_at_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = shapes(monkeypatch)
    check(TASK.format(answer="self.layer(x).relu()").replace("264", "8"), "Net", small=SMALL)
    assert set(seen) == {(8, 64, 64)}


def test_what_only_smaller_sizes_do_is_no_flaw() -> None:
    # constant where there are few rows only
    found = check(TASK.format(answer="self.layer(x) * (len(x) > 4)"), "Net", small=SMALL)
    assert found["mode"] == "train"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("self.layer(x) * 0", "output constant"),
        ("self.layer(torch.ones_like(x))", "output ignores an input"),
        ("self.layer(x) / (len(x) < 200)", "not finite"),
        ("self.layer(x) + torch.randn_like(x)", "nondeterministic"),
    ],
)
def test_flaws_of_a_dear_task_are_seen(answer: str, reason: str) -> None:
    with pytest.raises(UnfitError) as error:
        check(TASK.format(answer=answer), "Net", small=SMALL)
    assert error.value.reason == reason


def test_weights_that_start_as_nothing_are_seen_at_small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = shapes(monkeypatch)
    scaled = "self.gamma = torch.nn.Parameter(torch.zeros(features))\n\n    def forward"
    text = TASK.format(answer="x.exp() + self.gamma * self.layer(x)").replace("\n    def forward", f"        {scaled}")
    with pytest.raises(UnfitError) as error:
        check(text, "Net", small=SMALL)
    assert error.value.reason == "weights start as nothing"
    assert seen.count((264, 64, 64)) == 1


def test_sizes_found_free_stay_small_and_give_the_same_groups() -> None:
    found = Solution({"width": "64", "heads": "8"}, (Tensor((16, 32, 64)), Tensor((16, 8, 32))))
    asked = list[Solution]()

    def runs(solution: Solution) -> bool:
        asked.append(solution)
        (one, other), width, heads = solution.specs, int(solution.arguments["width"]), int(solution.arguments["heads"])
        assert isinstance(one, Tensor)
        assert isinstance(other, Tensor)
        return one.shape[2] == width and other.shape == (one.shape[0], heads, one.shape[1]) and width % heads == 0

    every = slots(found, ["x", "mask"])
    small: dict[Slot, int] = {}
    before = tied(found, every, runs)
    cost = sum(s.specs[0].shape[0] * s.specs[0].shape[1] for s in asked if isinstance(s.specs[0], Tensor))
    asked.clear()
    assert tied(found, every, runs, small) == before
    assert sum(s.specs[0].shape[0] * s.specs[0].shape[1] for s in asked if isinstance(s.specs[0], Tensor)) < cost
    assert {(s.key, s.index): v for s, v in small.items() if s.kind == "input"}[("x", 0)] == 8
    assert runs(assigned(found, small))


def test_inputs_that_are_too_large_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "draw", lambda *_, **__: pytest.fail("drawn"))
    _, _, error = call(nn.Identity(), (Tensor((4, 64, 512, 512)),), Budget())
    assert isinstance(error, TooMuchError)


class _Count(TorchDispatchMode):
    operators = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.operators += 1
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "layer",
    [
        nn.LSTM(16, 8, 2, bidirectional=True, batch_first=True),
        nn.LSTM(16, 8, proj_size=4),
        nn.GRU(16, 8),
        nn.RNN(16, 8, nonlinearity="relu"),
    ],
)
def test_recurrent_layers_are_rehearsed_at_once(layer: nn.Module) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            hidden, states = self.layer(x)
            last = states[0] if isinstance(states, tuple) else states
            raise ValueError(f"{tuple(hidden.shape)} {tuple(last.shape)}")

    specs = (Tensor((4, 300, 16)),)
    with _Count() as count:
        foreseen = Rehearsal(Net()).call(specs, None, False)
    _, _, error = call(Net(), specs, Budget())
    assert foreseen is not None
    assert str(foreseen[1]) == str(error)
    assert count.operators < 100


def test_what_draws_nothing_is_not_run_again_for_its_draws(tmp_path: Path) -> None:
    source = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x.{}\n"
    for expression, drew in (("exp()  # normal", False), ("normal_()", True)):
        text = source.format(expression)
        kind = probe.load(text, tmp_path)["Net"]
        progress, _, error = call(kind(), (Tensor((4, 8)),), Budget())
        assert error is None
        assert progress.drew == drew
    quiet, cut = Solution({}, (Tensor((4, 8)),), quiet=True), {"source": text, "name": "Net"}
    assert given(cut, {}, quiet, lambda _: pytest.fail("loaded")) == (cut, {}, quiet)


def test_users_of_a_class_that_lacks_a_package_are_not_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "import torch\n\nscipy = None\n\n\nclass Net(torch.nn.Module):\n"
        "    def forward(self, x):\n        return scipy.fft(x)\n"
    )
    monkeypatch.setattr(probe, "_seen", lambda *_: pytest.fail("watched"))
    user = {"source": text, "name": "Net", "wanted": "Net"}
    told = {"sites": [], "defaults": {}, "users": [user], "seen": None}
    outcome = probe.attempt_one({"source": text, "name": "Net", "lacks": ["scipy"], "told": told}, 16, tmp_path)
    assert outcome["reason"] == ABSENT


def test_what_a_definition_says_of_devices_is_looked_for_once() -> None:
    tree = ast.parse("torch.zeros(3, device='cuda')").body[0]
    ((_, said),) = found = respelled(tree)
    assert said == "'cpu'"
    assert respelled(tree) is found


class _Hungry(nn.Module):
    """More than one image takes most of what a search may take, and is too much."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(3, 4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] > 1:
            for _ in range(8_000):
                torch.empty(1)
            raise TooMuchError("too many images")
        answer: torch.Tensor = self.layer(x)
        return answer


def test_smaller_inputs_are_tried_whatever_too_large_ones_took() -> None:
    found = solve(_Hungry, {}, "")
    assert isinstance(found, Solution) and found.specs == (Tensor((1, 3, 32, 32)),)


def test_a_transposed_convolution_costs_what_its_input_does() -> None:
    with torch.no_grad(), Work() as work:
        nn.ConvTranspose2d(4, 8, 5, stride=3)(torch.ones(2, 4, 6, 6))
    assert work.flops == 2 * (2 * 4 * 6 * 6) * (8 * 5 * 5)


@pytest.mark.parametrize("fill", ["uniform_", "normal_", "trunc_normal_"])
def test_large_weights_repeat_random_numbers_of_their_distribution(fill: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    few, exact = getattr(nn.init, fill)(torch.empty(30)), getattr(nn.init, fill)(torch.empty(500, 600))
    for name in ("uniform_", "normal_"):
        monkeypatch.setattr(torch.Tensor, name, getattr(torch.Tensor, name))
    monkeypatch.setattr(nn.init, "trunc_normal_", nn.init.trunc_normal_)
    quicken()
    torch.manual_seed(0)
    assert torch.equal(getattr(nn.init, fill)(torch.empty(30)), few)  # small ones are as they are
    many = getattr(nn.init, fill)(torch.empty(500, 600))
    assert float(many.std()) == pytest.approx(float(exact.std()), rel=0.02) and not torch.equal(many[0], many[1])
    assert torch.equal(many.flatten()[REPEATED:], many.flatten()[:-REPEATED])
    with pytest.raises(RuntimeError, match="in-place"):
        torch.empty(500, 600, requires_grad=True).normal_()
