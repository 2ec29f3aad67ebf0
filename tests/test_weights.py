"""The state that a reference is given before it is judged."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from kdata.verify.candidate.setting import weigh
from kdata.verify.reference.weights import after_calls, partly, redraw


class Counting(nn.Module):
    """Follows every second call."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """What is left of the mean."""
        if self.steps % 2 == 0:
            self.mean += x.mean()
        self.steps += 1
        return x - self.mean


def test_the_state_after_some_calls_is_what_these_leave() -> None:
    calls = []

    def call(state: dict[str, Any]) -> nn.Module:
        module = Counting()
        module.load_state_dict(state)
        module(torch.ones(3))
        calls.append(module)
        return module

    first = Counting().state_dict()
    left = [after_calls(count, Counting(), first, call) for count in range(4)]
    assert [int(state["steps"]) for state in left] == [0, 1, 2, 3]
    assert [float(state["mean"]) for state in left] == [0.0, 1.0, 1.0, 2.0]
    made = len(calls)
    assert after_calls(3, nn.Linear(2, 2), (weights := nn.Linear(2, 2).state_dict()), call) is weights
    assert len(calls) == made


def test_buffers_of_one_number_are_drawn_and_others_are_structure() -> None:
    module = nn.Module()
    kept = {"mask": torch.ones(3, 3).tril(), "none": torch.full((4,), -torch.inf), "scale": torch.tensor(2.0)}
    for name, value in {**kept, "weights": torch.full((5,), 2.0)}.items():
        module.register_buffer(name, value.clone())
    redraw(module, torch.Generator().manual_seed(0))
    assert all(torch.equal(module.get_buffer(name), value) for name, value in kept.items())
    assert len(module.get_buffer("weights").unique()) == 5
    assert bool(((module.get_buffer("weights") >= 1.0) & (module.get_buffer("weights") <= 3.0)).all())


def test_of_later_states_every_other_part_is_what_it_was_in_turns() -> None:
    before = {"weight": torch.ones(2), "mean": torch.ones(3), "gain": torch.ones(3)}
    drawn = {name: value + 1 for name, value in before.items()}
    kept = [[name for name in drawn if partly(before, drawn, n)[name] is before[name]] for n in range(3)]
    assert kept == [[], ["mean"], ["weight", "gain"]]
    assert partly({}, drawn, 1) is drawn
    assert partly(before | {"gain": torch.ones(4)}, drawn, 2) is drawn


def test_a_part_that_is_as_it_was_is_not_written_between_calls() -> None:
    module = nn.Linear(3, 2)
    later = {"weight": module.weight.detach().clone(), "bias": torch.ones(2)}
    versions = module.weight._version, module.bias._version
    weigh(module, later, {}, trained=True)
    assert (module.weight._version, module.bias._version) == (versions[0], versions[1] + 1)
    assert torch.equal(module.bias, later["bias"])
