"""A last step that undoes what those before it did, in recurrences on half precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from kdata.verify.reference.undone import Undone, undone
from kdata.verify.reference.values import doubles, upcast

Forward = Callable[[list[Any]], Tensor]


def gated(inputs: list[Any]) -> Tensor:
    """All states of a scan with gates."""
    x, gate = inputs[0].float(), torch.sigmoid(inputs[1].float())
    states = [x[:, 0]]
    for t in range(1, x.shape[1]):
        states.append(gate[:, t] * states[-1] + x[:, t])
    return torch.stack(states, 1).to(inputs[0].dtype)


def averaged(inputs: list[Any]) -> Tensor:
    """The last of moving averages that begin at the end."""
    x = inputs[0].float()
    mean = torch.zeros_like(x[0])
    for row in x.flip(0):
        mean = torch.lerp(mean, row, 0.2)
    return mean.to(inputs[0].dtype)


def rounded(inputs: list[Any]) -> Tensor:
    """A state that the reference itself carries in half precision."""
    state = torch.zeros_like(inputs[0][0])
    for row in inputs[0]:
        state = 0.9 * state + row
    return state


def found(forward: Forward, *given: Tensor) -> Undone | None:
    """What is found for a function of such inputs."""

    def golden(inputs: list[Any]) -> Any:
        with doubles():
            return forward(tree_map(upcast, inputs))

    return undone([*given], forward, golden, torch.Generator().manual_seed(0))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_what_is_left_is_little_beside_what_was_there(dtype: torch.dtype) -> None:
    draw = found(gated, torch.randn(2, 32, 16).to(dtype), torch.randn(2, 32, 16).to(dtype))
    assert draw is not None
    states = gated(draw.inputs).abs().float()
    assert draw.dim == 1
    assert float(states[:, -1].mean()) < 0.01 * float(states[:, -2].mean())


def test_the_last_step_is_that_of_the_first_row_where_a_recurrence_begins_at_the_end() -> None:
    x = torch.randn(24, 16).half()
    draw = found(averaged, x)
    assert draw is not None
    assert torch.equal(draw.inputs[0][1:], x[1:])
    assert draw.dim is None
    assert float(averaged(draw.inputs).abs().mean()) < 0.01


@pytest.mark.parametrize(("forward", "given"), [
    (rounded, torch.randn(24, 16).half()),
    (averaged, torch.randn(24, 16)),  # of single precision
    (averaged, torch.randn(24, 6).half()),  # too little is left
    (lambda inputs: averaged([inputs[0].half()]).float(), torch.randn(24, 16).half()),  # the answer is of it
    (lambda inputs: inputs[0].float().softmax(0).half(), torch.randn(24, 6).half()),
])  # fmt: skip
def test_what_carries_nothing_in_single_precision_is_left_alone(forward: Forward, given: Tensor) -> None:
    assert found(forward, given) is None
