"""States after very many calls that nobody made: where what a call leaves behind says them."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from kdata.verify.reference.aging import aged


class Counting(nn.Module):
    """Counts its calls, and answers in one of several ways by that."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way
        self.register_buffer("step", torch.zeros((), dtype=torch.int16 if way == "narrow" else torch.int64))
        self.register_buffer("kept", torch.zeros(8))
        self.step: Tensor
        self.kept: Tensor

    def forward(self, x: Tensor) -> Tensor:
        self.step += 1
        if self.way == "mean":
            self.kept.mul_(0.9).add_(x, alpha=0.1)
        if self.way == "place":
            self.kept.copy_(torch.where(torch.arange(8) == self.step, x, self.kept))
        if self.way == "table":
            return torch.arange(5_000)[self.step] * x
        return x if self.way == "idle" else self.kept + x * torch.exp(-1e-5 * self.step)


def answered(way: str, state: dict[str, Any]) -> tuple[Any, nn.Module, None]:
    """One call in a state."""
    module = Counting(way)
    module.load_state_dict(state)
    return module(torch.linspace(1.0, 2.0, 8)), module, None


@pytest.mark.parametrize(
    ("way", "steps"),
    [("plain", [10_003, 100_003, 1_000_003]), ("mean", [10_003, 100_003, 1_000_003]), ("place", []),
     ("table", [1_003]), ("idle", [])],
)  # fmt: skip
def test_a_count_is_raised_where_that_shows_and_is_no_place(way: str, steps: list[int]) -> None:
    state = {"step": torch.tensor(3), "kept": torch.zeros(8)}
    found = aged("aged", state, [], partial(answered, way), places=False)
    assert [int(older["step"]) for older in found] == steps
    most = aged("oldest", state, [], partial(answered, way), places=False)
    assert [int(older["step"]) for older in most] == steps[::-1]


def test_what_else_changes_stays_where_an_integer_may_be_a_place() -> None:
    state = {"step": torch.tensor(3), "kept": torch.zeros(8)}
    assert not aged("aged", state, [], partial(answered, "mean"), places=True)
    assert aged("aged", state, [], partial(answered, "plain"), places=True)


def test_a_type_that_holds_no_more_is_the_end() -> None:
    state = {"step": torch.tensor(3, dtype=torch.int16), "kept": torch.zeros(8)}
    found = aged("aged", state, [], partial(answered, "narrow"), places=False)
    assert [int(older["step"]) for older in found] == [10_003]
