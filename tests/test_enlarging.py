"""Inputs that are too small grow to what a window needs, together where they are alike; empty ones say there is none."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from sources.infer.forward.failure import Failure
from sources.infer.forward.repairs import repairs
from sources.infer.inputs import Tensor, all_tensors
from sources.infer.search import Solution
from sources.infer.sizes import slots
from tests.attempts import attempted

TOO_SMALL = "RuntimeError: Given input size: (64x1x1). Calculated output size: (64x0x0). Output size is too small"
CACHED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Linear(64, 64)

    def forward(self, x, cache: torch.Tensor = torch.zeros((0, 0, 0))):
        if cache.size(0) > 0:
            x = torch.cat([cache, x], dim=1)
        return self.lift(x), torch.zeros((0, 0, 0))
"""


def cheapest(*images: Tensor) -> list[tuple[int, ...]]:
    """The shapes that are tried first where a pool of seven by seven is given one by one."""
    failure = Failure(images, TOO_SMALL, nn.Identity(), "avg_pool2d", (torch.zeros(4, 64, 1, 1), 7))
    return [t.shape for _, t in all_tensors(min(repairs(failure), key=lambda change: change[0])[1])]


def test_a_pool_tells_its_own_side() -> None:
    assert cheapest(Tensor((4, 3, 32, 32))) == [(1, 3, 224, 224)]


def test_images_that_are_alike_grow_together() -> None:
    assert cheapest(Tensor((4, 3, 32, 32)), Tensor((4, 3, 32, 32))) == [(1, 3, 224, 224)] * 2
    assert cheapest(Tensor((4, 3, 32, 32)), Tensor((4, 3, 64, 64))) == [(1, 3, 224, 224), (4, 3, 64, 64)]


def test_an_output_may_be_empty(tmp_path: Path) -> None:
    found = attempted(CACHED, tmp_path)
    assert not found["reason"], (found["reason"], found["detail"])
    assert [i["name"] for i in found["inputs"]] == ["x"]


def test_what_is_empty_is_no_size() -> None:
    found = slots(Solution({}, (Tensor((4, 8)), Tensor((0, 0, 0)))), ["x", "cache"])
    assert [(s.key, s.value) for s in found] == [("x", 4), ("x", 8)]
