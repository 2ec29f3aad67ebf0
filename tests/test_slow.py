"""Draws at which what a reference does again and again has not converged at its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from kdata.verify.reference.slow import SHOWS, Steps, settling, slow
from kdata.verify.reference.values import finite, near, upcast


def orthogonalised(inputs: list[Any], _: list[Any], steps: int = 24) -> Tensor:
    """By Newton's and Schulz's iteration."""
    x = inputs[0] / inputs[0].norm(dim=(-2, -1), keepdim=True)
    for _ in range(steps):
        x = 1.5 * x - 0.5 * x @ x.mT @ x
    return x


def balanced(inputs: list[Any], _: list[Any], steps: int = 20) -> Tensor:
    """By Sinkhorn's."""
    p = inputs[0].exp()
    for _ in range(steps):
        p = p / p.sum(-1, keepdim=True)
        p = p / p.sum(-2, keepdim=True)
    return p


def settled(inputs: list[Any], weights: list[Any], steps: int = 30) -> Tensor:
    """The fixed point of a layer."""
    h = torch.zeros_like(inputs[0])
    for _ in range(steps):
        h = torch.tanh(h @ weights[0] + inputs[0])
    return h


def found(answer: Callable[..., Any], weights: list[Tensor], *shape: int, search: Callable[..., Any] = slow) -> Any:
    """What is found for a reference of one input of this shape."""
    torch.manual_seed(0)

    def bears(inputs: list[Any], others: list[Any]) -> bool:
        one, other = answer(inputs, others), answer([*map(upcast, inputs)], [*map(upcast, others)])
        return finite(one) and near(one, other, 1e-4)

    return search([torch.randn(shape)], weights, answer, bears)


@pytest.mark.parametrize(
    ("answer", "shape", "half"), [(orthogonalised, (2, 6, 16), 12), (balanced, (2, 12, 12), 10), (settled, (4, 16), 15)]
)
def test_half_of_the_steps_are_another_answer_there(
    answer: Callable[..., Any], shape: tuple[int, ...], half: int
) -> None:
    weights = [torch.randn(16, 16, generator=torch.Generator().manual_seed(1)) * 0.05]
    draw = found(answer, weights, *shape)
    assert draw is not None
    assert not near(answer(*draw), answer(*draw, half), SHOWS)


@pytest.mark.parametrize(("scale", "steps"), [(0.05, 30), (0.002, 30), (0.05, 16)])
def test_an_end_where_little_changes_shows_where_a_reference_settles(scale: float, steps: int) -> None:
    """However fast it does for what the task draws."""

    def early(inputs: list[Any], weights: list[Any], last: int = steps) -> Tensor:
        h, new, step = inputs[0] + 1, torch.zeros_like(inputs[0]), 0
        while step < last and float((new - h).abs().max()) > 1e-4 * float(new.abs().max()):
            h, new, step = new, torch.tanh(new @ weights[0] + inputs[0]), step + 1
        return new

    def all_of_them(inputs: list[Any], weights: list[Any]) -> Tensor:
        return settled(inputs, weights, steps)

    weights = [torch.randn(16, 16, generator=torch.Generator().manual_seed(1)) * scale]
    draw = found(all_of_them, weights, 4, 16, search=settling)
    assert draw is not None
    assert not near(early(*draw), all_of_them(*draw), 3e-6)


def test_layers_and_recurrences_do_not_converge() -> None:
    layers = torch.randn(8, 16, 16, generator=torch.Generator().manual_seed(1)) / 4

    def stacked(inputs: list[Any], _: list[Any]) -> Tensor:
        h = inputs[0]
        for layer in layers:
            h = torch.tanh(h @ layer) + h
        return h

    def scanned(inputs: list[Any], _: list[Any]) -> Tensor:
        h = torch.zeros(16)
        for row in inputs[0]:
            h = 0.9 * h + row
        return h

    assert found(stacked, [], 4, 16) is None
    assert found(scanned, [], 24, 16) is None


def test_what_is_repeated_is_found_between_other_operators() -> None:
    x = torch.ones(4)
    with Steps() as steps:
        y = (x + 1).exp()
        for _ in range(5):
            y = y.sqrt() + 1
        y.log().sum()
    change = steps.change()
    assert change is not None
    assert 0 < change < 0.1
