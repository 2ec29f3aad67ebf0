"""Rows in half precision that balance each other where they are looked up, or added up beside a product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._pytree import tree_map

from kdata.verify.reference.balanced import balanced
from kdata.verify.reference.cancelling import Products
from kdata.verify.reference.values import doubles, upcast

Forward = Callable[[list[Any]], Tensor]


def drawn(forward: Forward, *given: Tensor) -> list[Any] | None:
    """What is found for a function of such inputs."""

    def golden(inputs: list[Any]) -> Any:
        with doubles():
            return forward(tree_map(upcast, inputs))

    found = balanced(given, forward, golden, torch.Generator().manual_seed(0))
    return found and found.leaves


def half(*shape: int) -> Tensor:
    """Numbers in half precision."""
    return torch.randn(shape).half()


def scored(inputs: list[Any]) -> Tensor:
    """A sum of products behind a linear layer."""
    x, weight, y = inputs
    return (functional.linear(x, weight).float() * y.float()).sum(-1)


def bags(inputs: list[Any]) -> Tensor:
    """Sums of rows of a table."""
    table, rows, *starts = inputs
    return functional.embedding_bag(rows, table, *starts, mode="sum")


def edges(inputs: list[Any]) -> Tensor:
    """Rows sent along edges."""
    x, (start, end) = inputs
    return torch.zeros(x.shape, dtype=torch.float32).index_add(0, end, x[start].float())


def segments(inputs: list[Any]) -> Tensor:
    """Sums of rows that lie one after another."""
    x, ends = inputs
    place = torch.repeat_interleave(torch.arange(len(ends) - 1), ends.diff())
    return torch.zeros(len(ends) - 1, x.shape[1]).index_add(0, place, x.float())


@pytest.mark.parametrize(("forward", "given"), [
    (scored, [half(8, 32), half(64, 32), half(8, 64)]),
    (bags, [half(51, 16), torch.randint(0, 51, (6, 41))]),
    (bags, [half(50, 16), torch.randint(0, 50, (60,)), torch.tensor([0, 5, 20, 33])]),
    (edges, [half(20, 16), torch.randint(0, 20, (2, 60))]),
    (segments, [half(60, 16), torch.tensor([0, 10, 30, 35, 60])]),
])  # fmt: skip
def test_sums_are_large_before_they_are_small(forward: Forward, given: list[Tensor]) -> None:
    found = drawn(forward, *given)
    assert found is not None
    answer = float(forward(found).double().square().mean().sqrt())
    large = float(forward([t.abs() if t.is_floating_point() else t for t in found]).double().square().mean().sqrt())
    assert large > 100 * answer > 0


@pytest.mark.parametrize(("forward", "given"), [
    (scored, [t.float() for t in (half(8, 32), half(64, 32), half(8, 64))]),
    (bags, [half(50, 16), torch.randint(0, 50, (6, 4))]),  # sums of few
    (lambda inputs: inputs[0][inputs[1]], [half(50, 16), torch.randint(0, 50, (60,))]),  # of none
])  # fmt: skip
def test_what_sums_nothing_so_is_left_alone(forward: Forward, given: list[Tensor]) -> None:
    assert drawn(forward, *given) is None


@pytest.mark.parametrize("accumulate", [True, False])
def test_what_indices_put_together_is_a_sum_where_it_accumulates(accumulate: bool) -> None:
    with Products() as products:
        torch.zeros(8, 3).index_put((torch.arange(40) % 8,), torch.randn(40, 3), accumulate=accumulate)
    assert list(products.put) == [40] * accumulate
