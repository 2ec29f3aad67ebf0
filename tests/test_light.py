"""Mining is light: no larger calls than need be, none that tell what is known, no memory for what is as good smaller."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from sources import probe
from sources.infer.check import leaves
from sources.infer.initial import REPEATED, quicken
from sources.infer.reshaped import shape_matters
from sources.infer.vanishing import hidden


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


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
