"""Our stand-in for torchvision's means over boxes, against what these are by their definition."""

from __future__ import annotations

import importlib.util
import itertools
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.cuts import HEAD, cut

OPS = Path(__file__).parents[1] / "sources" / "replacements" / "torchvision" / "ops.py"


def _ops() -> Any:
    spec = importlib.util.spec_from_file_location("ops_of_ours", OPS)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _at(plane: torch.Tensor, y: float, x: float) -> float:
    """A value between the pixels of a plane, as the compiled kernel takes it."""
    height, width = plane.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return 0.0
    y, x = min(max(y, 0.0), height - 1), min(max(x, 0.0), width - 1)
    top, left = int(y), int(x)
    below, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = y - top, x - left
    upper = plane[top, left] * (1 - across) + plane[top, right] * across
    return float(upper * (1 - down) + (plane[below, left] * (1 - across) + plane[below, right] * across) * down)


def _mean(plane: torch.Tensor, box: list[float], i: int, j: int, size: int, ratio: int, aligned: bool) -> float:
    shift = 0.5 if aligned else 0.0
    x1, y1, x2, y2 = (v - shift for v in box)
    wide, high = x2 - x1, y2 - y1
    if not aligned:
        wide, high = max(wide, 1.0), max(high, 1.0)
    down, across = (ratio, ratio) if ratio > 0 else (math.ceil(high / size), math.ceil(wide / size))
    places = itertools.product(range(down), range(across))
    values = [_at(plane, y1 + (i + (a + 0.5) / down) * high / size, x1 + (j + (b + 0.5) / across) * wide / size)
              for a, b in places]  # fmt: skip
    return sum(values) / max(1, len(values))


@pytest.mark.parametrize(("ratio", "aligned"), [(2, True), (0, False), (-1, True), (3, False)])
def test_means_over_boxes_are_what_they_say(ratio: int, aligned: bool) -> None:
    torch.manual_seed(0)
    images = torch.randn(2, 3, 9, 11)
    boxes = torch.tensor([[0, 1.2, 0.4, 7.9, 6.1], [1, -2.0, 3.0, 4.0, 12.0], [1, 2.0, 2.0, 2.3, 2.1]])
    found = _ops().roi_align(images, boxes, 2, 1.0, ratio, aligned)
    assert found.shape == (3, 3, 2, 2)
    for k, c, i, j in itertools.product(range(3), range(3), range(2), range(2)):
        plane, box = images[int(boxes[k, 0]), c], boxes[k, 1:].tolist()
        assert found[k, c, i, j].item() == pytest.approx(_mean(plane, box, i, j, 2, ratio, aligned), abs=1e-4)
    parts = [boxes[:1, 1:], boxes[1:, 1:]]
    assert torch.equal(_ops().roi_align(images, parts, (2, 2), 1.0, ratio, aligned), found)


def test_a_layer_of_detectron2s_takes_means_that_lie_between_pixels() -> None:
    net = (
        "from detectron2.layers import ROIAlign\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.pool = ROIAlign(2, 0.5, 2)\n\n"
        "    def forward(self, x, boxes):\n        return self.pool(x, boxes)\n"
    )
    space: dict[str, Any] = {}
    exec(cut({"net.py": HEAD + net}, "net.py", "Net"), space)
    images, boxes = torch.randn(2, 3, 9, 11), torch.tensor([[1, 2.4, 0.8, 15.8, 12.2]])
    expected = _ops().roi_align(images, boxes, 2, 0.5, 2, aligned=True)
    assert torch.equal(space["Net"]()(images, boxes), expected)
