"""Whether two tensors share memory, told from what a process says of them."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
import torch

from kdata.verify.evidence.compare import Tensors, UnequalError, demand_apart
from kdata.verify.exchange.wire import Outline

GRID = torch.zeros(6, 8)


def said(*tensors: torch.Tensor) -> tuple[dict[str, Any], Tensors]:
    outline = Outline()
    node = outline.write(list(tensors))
    return node, Tensors(outline.manifest, b"")


def apart(*tensors: torch.Tensor) -> bool:
    expected, ours = said(*(torch.zeros_like(t) for t in tensors))
    try:
        demand_apart(expected, ours, *said(*tensors))
    except UnequalError:
        return False
    return True


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        (GRID[:3], GRID[3:], False),
        (GRID[:, ::2], GRID[:, 1::2], False),  # they lie among each other, and share nothing
        (GRID[:, ::2], GRID[:, 2::3], True),
        (GRID, GRID.t(), True),
        (GRID[:4], GRID[3:], True),
        (GRID[:0], GRID, False),
        (GRID[0, 0], GRID, True),
        (GRID.view(torch.int16)[0, 1:2], GRID[0, 1:], False),  # an element's bytes, and the next ones
        (GRID.view(torch.int16)[0, 3:4], GRID[0, 1:], True),
        (GRID, torch.zeros(6, 8), False),
    ],
)
def test_elements_in_one_memory_are_found(one: torch.Tensor, other: torch.Tensor, shared: bool) -> None:
    assert apart(one, other) is not shared


def places(entry: dict[str, Any]) -> set[int]:
    indices = itertools.product(*map(range, entry["shape"]))
    return {entry["start"] + sum(i * s for i, s in zip(index, entry["strides"], strict=True)) for index in indices}


def test_any_strides_agree_with_counting() -> None:
    drawn = random.Random(0)
    for _ in range(2000):
        ranks = drawn.randrange(4), drawn.randrange(4)
        one, other = (
            {"storage": 0, "item": 4, "start": drawn.randrange(12), "shape": [drawn.randrange(5) for _ in range(rank)],
             "strides": [drawn.randrange(8) for _ in range(rank)]}
            for rank in ranks
        )  # fmt: skip
        pair = {"list": [{"tensor": 0}, {"tensor": 1}]}
        separate = Tensors([{"storage": n} for n in range(2)], b"")
        if places(one) & places(other):
            with pytest.raises(UnequalError, match="lie in the same memory"):
                demand_apart(pair, separate, pair, Tensors([one, other], b""))
        else:
            demand_apart(pair, separate, pair, Tensors([one, other], b""))


def test_what_no_memory_can_hold_is_not_believed() -> None:
    pair = {"list": [{"tensor": 0}, {"tensor": 1}]}
    huge = {"storage": 0, "item": 4, "start": 0, "shape": [1 << 62], "strides": [1 << 61]}
    with pytest.raises(UnequalError):
        demand_apart(pair, Tensors([{"storage": n} for n in range(2)], b""), pair, Tensors([huge, huge], b""))
