"""Which of its inputs a reference assigns to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from kdata.verify.reference.assigned import assigned


def fills(cache: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    cache[:, -1] = new * 2
    return cache.sum(-1)


def fills_and_returns(cache: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    cache[:, -1] = new
    return cache


def adds_at_places(cache: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    cache.index_put_((torch.arange(3),), new[:, None].expand(3, 4), accumulate=True)
    return cache * 2


def scales_a_part(x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    x.relu_()
    x[:, 0] = x[:, 1] * 2
    x[x < 0.5] = 0.0
    return x * 2


def looks_up(cache: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    cache[torch.arange(3), torch.arange(3)] = new
    return cache.sum(-1)


def changes_nothing(cache: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    return cache + new[:, None]


@pytest.mark.parametrize(
    ("forward", "expected"),
    [
        (fills, {"assigned": [0]}),
        (looks_up, {"assigned": [0]}),
        (fills_and_returns, {"assigned": []}),
        (adds_at_places, {"assigned": []}),
        (scales_a_part, {"assigned": []}),
        (changes_nothing, {}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_put_in_an_input_and_not_returned_is_assigned(
    forward: Callable[..., Any], expected: dict[str, list[int]]
) -> None:
    inputs = [torch.rand(3, 4), torch.rand(3) + 1]

    def call() -> tuple[Any, Any, Any]:
        held = [t.clone() for t in inputs]
        return forward(*held), None, held

    assert assigned(call, inputs, call()[2]) == expected
