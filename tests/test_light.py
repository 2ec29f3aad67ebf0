"""Mining is light: no larger calls than need be, none that tell what is known, no memory for what is as good smaller."""

from __future__ import annotations

import ast
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from sources import probe
from sources.infer.constructor.constructions import NOTHING, Told
from sources.infer.inputs import Tensor
from sources.infer.running.check import TOO_LARGE, UnfitError, leaves
from sources.infer.running.initial import LARGE as LARGE_WEIGHTS
from sources.infer.running.initial import cheaply, quicken
from sources.infer.running.progress import Budget, Progress, constructing
from sources.infer.running.repeated import REPEATED
from sources.infer.running.reshaped import shape_matters
from sources.infer.running.vanishing import hidden
from sources.infer.runs import Runs, lightened
from sources.infer.search import Solution, lightens
from sources.isolation import isolated
from sources.lessons import TELLS_NOTHING
from sources.mine import LARGE
from sources.other_cuts import other_cuts
from sources.text.scope import walk

NET = """import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        if self.training:
            x = x + 1
        return self.gate * x
"""
CUT: dict[str, Any] = {
    "name": "Net", "source": NET, "told": {"sites": [], "defaults": {}, "users": []}, "lacks": [], "header": []
}  # fmt: skip
SOLVED = {"source": NET, "name": "Net", "answer": [{"dim": "8"}, []]}


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


class Square(nn.Module):
    """Convolutions of images, of which some take one size only."""

    def __init__(self, side: int = 0) -> None:
        super().__init__()
        self.side = side
        self.layers = nn.Sequential(nn.Conv2d(3, 256, 3, padding=1), *[nn.Conv2d(256, 256, 3, padding=1)] * 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert not self.side or x.shape[2:] == (self.side, self.side) and len(x) == 2, "another size"
        return self.layers(x)


def test_inputs_of_a_network_of_any_depth_are_lightened() -> None:
    runs = Runs(Square, {}, LARGE)
    light = lightened(Solution({}, (Tensor((1, 3, 64, 64)),)), runs)
    (spec,) = light.specs
    assert isinstance(spec, Tensor) and spec.shape[2] < 64
    assert not runs.weigh(light).heavy


def test_inputs_are_weighed_by_the_call_that_tells_whether_they_fit() -> None:
    runs = Runs(Square, {}, LARGE)
    calls = list[torch.Size]()
    runs.module({}).register_forward_pre_hook(lambda _, given: calls.append(given[0].shape))
    light = lightened(Solution({}, (Tensor((1, 3, 64, 64)),)), runs)
    assert len(calls) == len(set(calls)) > 1
    assert calls[-1] == light.specs[0].shape  # type: ignore[union-attr]


def test_a_constructor_draws_few_numbers_for_large_weights_only() -> None:
    torch.manual_seed(0)
    with constructing(Budget()):
        large, small = torch.empty(500, 600).uniform_(1, 2), torch.empty(3, 4).normal_()
        with pytest.raises(RuntimeError, match="in-place"):
            torch.empty(500, 600, requires_grad=True).normal_()
    assert torch.equal(large.flatten()[REPEATED:], large.flatten()[:-REPEATED])
    assert 1 <= float(large.min()) < 1.01 and 1.99 < float(large.max()) < 2
    assert len(small.unique()) == 12
    with Progress(Budget()):
        drawn = torch.empty(500, 600).uniform_()
    assert len(drawn.unique()) > REPEATED


def test_what_smaller_inputs_do_not_fit_stays_as_it_is() -> None:
    whole = Solution({"side": "64"}, (Tensor((2, 3, 64, 64)),))
    assert lightened(whole, Runs(Square, {}, LARGE)) == whole


class Deep(nn.Sequential):
    """As many layers as it is told."""

    def __init__(self, depth: int) -> None:
        super().__init__(*[nn.Linear(8, 8)] * depth)


class Steps(nn.Module):
    """How frames differ of which one in eight is looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv1d(256, 1024, 9, padding=4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)[..., ::8].std(-1)


def test_inputs_are_lightened_as_long_as_the_answer_is_finite() -> None:
    runs = Runs(Steps, {}, LARGE)
    light = lightened(Solution({}, (Tensor((32, 256, 16)),)), runs)
    assert light.specs != (Tensor((32, 256, 16)),)
    assert runs.weigh(light).finite


def test_a_lighter_search_that_would_be_the_same_is_not_made(tmp_path: Path) -> None:
    assert lightens(Deep, {}, "", Told(({"positional": [], "named": {"depth": "12"}},)))
    assert not lightens(Steps, {}, "", NOTHING)
    came = {"reason": TOO_LARGE, "detail": "of the first search"}
    plain = CUT | {"source": NET.replace("self, dim", "self, dim=8"), "lighter": came | {"work": 3.0}}
    assert isolated(lambda: probe.infer(plain, LARGE, tmp_path), 5) == came


def test_initialisers_are_cheap_for_a_while() -> None:
    own = torch.nn.init.orthogonal_
    with cheaply():
        cheap = torch.nn.init.orthogonal_(torch.empty(8, 8))
        large = torch.nn.init.normal_(torch.full((LARGE_WEIGHTS + 1,), torch.nan))
    assert not torch.allclose(cheap @ cheap.T, torch.eye(8), atol=1e-3)
    assert bool(large.isfinite().all()), "a program goes the same ways whenever it runs"
    assert torch.nn.init.orthogonal_ is own


def test_a_walk_leaves_out_nothing_but_contexts() -> None:
    tree = ast.parse(Path(__file__).read_text())
    assert walk(tree) == [n for n in ast.walk(tree) if not isinstance(n, ast.expr_context)]


def test_every_fork_draws_the_same_numbers_of_numpy() -> None:
    probe.warm()
    first = np.random.rand()
    assert np.random.rand() != first
    probe.warm()
    assert np.random.rand() == first


@pytest.mark.parametrize("body", ["x", "{'a': [x]}"])
def test_an_input_that_is_not_looked_at_takes_one_run_to_be_found_out(body: str) -> None:
    x, like = torch.randn(2, 3), torch.randn(4, 5, 6)
    inputs, runs = [eval(body), [like]], list[int]()

    def run(given: list[Any]) -> list[torch.Tensor]:
        runs.append(1)
        return [x.sin()]

    assert not shape_matters(inputs, leaves, 1, run, [x.sin()])
    assert len(runs) == 1
    assert shape_matters(inputs, leaves, 1, lambda given: [x.sin() * len(given[1][0])], [x.sin() * 4])


@pytest.mark.parametrize("dtype", [None, torch.float16, torch.bfloat16])
def test_caches_of_zeros_take_no_memory_until_they_are_written(dtype: torch.dtype | None) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    with constructing(Budget()):
        cache = torch.zeros(2, 1 << 24, dtype=dtype)
    touched = (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) * resource.getpagesize()
    assert dtype is torch.bfloat16 or touched < cache.nbytes / 4
    cache[1, -1] = 1
    assert cache.dtype == (dtype or torch.float32) and float(cache[0].sum()) == 0 and float(cache[1].sum()) == 1


def test_truncated_numbers_of_a_parameter_are_made_once_for_all_that_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("uniform_", "normal_"):
        monkeypatch.setattr(torch.Tensor, name, getattr(torch.Tensor, name))
    monkeypatch.setattr(nn.init, "trunc_normal_", nn.init.trunc_normal_)
    made, fill = list[int](), nn.init._no_grad_trunc_normal_

    def noted(tensor: torch.Tensor, *given: Any, **named: Any) -> torch.Tensor:
        made.append(tensor.numel())
        return fill(tensor, *given, **named)

    monkeypatch.setattr(nn.init, "_no_grad_trunc_normal_", noted)
    quicken()
    weight = nn.init.trunc_normal_(nn.Parameter(torch.empty(500, 600)), std=0.02).flatten()
    assert made == [REPEATED]
    assert torch.equal(weight[REPEATED:], weight[:-REPEATED])


class Spread(nn.Module):
    """More numbers than a task may have, of whatever it is given."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(33):
            x = x[:2].repeat(1 << 21).sin()
        return x


def test_what_is_too_large_however_small_its_inputs_is_told_before_its_sizes_are_tied() -> None:
    solution = Solution({}, (Tensor((2,)),))
    with pytest.raises(UnfitError) as error:
        lightened(solution, Runs(Spread, {}, LARGE))
    assert error.value.reason == TOO_LARGE


def test_what_ran_and_is_too_large_is_not_cut_without_training() -> None:
    large = {"reason": TOO_LARGE, "detail": "", "solved": SOLVED}
    assert not list(other_cuts(CUT, large))
    assert list(other_cuts(CUT, large | {"solved": None}))  # perhaps the search for it was


def test_another_cut_begins_with_what_the_first_ran_with() -> None:
    outcome = {"reason": TELLS_NOTHING[1], "detail": "", "solved": SOLVED}
    told = [cut["told"].get("seen") for cut, _ in other_cuts(CUT, outcome)]
    assert told == [{"arguments": {"dim": "8"}, "specs": [], "own": True}] * 2


def test_the_gradients_of_weights_are_not_held_together() -> None:
    layers = nn.Sequential(*[nn.Linear(4, 4) for _ in range(3)])
    layers[1].weight.data.zero_()
    held = list[int]()
    for p in layers.parameters():
        p.register_post_accumulate_grad_hook(
            lambda _: held.append(sum(q.grad is not None for q in layers.parameters()))
        )
    hidden(layers, [torch.ones(2, 4)])
    assert held and max(held) == 1
