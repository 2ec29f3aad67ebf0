"""What maskrcnn-benchmark's descendants compile beside their Python, against what the kernels say."""

from __future__ import annotations

import itertools
import math
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from sources.mine import replacements


@pytest.fixture(scope="module")
def compiled() -> Iterator[Any]:
    """The stand-in, where those that it takes operators from can be imported."""
    texts, names = replacements(), ("torchvision.ops", "deform_conv_cuda", "MultiScaleDeformableAttention", "_C")
    before = {name: sys.modules.get(name) for name in ("torchvision", *names)}
    sys.modules["torchvision"] = types.ModuleType("torchvision")
    for name in names:
        module = sys.modules[name] = types.ModuleType(name)
        exec(texts[name], module.__dict__)
    yield sys.modules["_C"]
    for name, old in before.items():
        sys.modules.pop(name)
        sys.modules.update({name: old} if old else {})


def test_boxes_that_a_better_one_covers_go_and_only_of_one_label_where_these_tell(compiled: Any) -> None:
    boxes = torch.tensor([[0.0, 0, 9, 9], [0, 0, 9, 8], [20, 20, 29, 29], [1, 0, 9, 9], [0, 0, 9, 4]])
    scores = torch.tensor([0.7, 0.9, 0.1, 0.8, 0.6])
    assert compiled.nms(boxes, scores, 0.5).tolist() == [1, 2]  # the last is covered by what is gone: 5 of 9 rows
    assert compiled.nms(boxes, scores, 0.6).tolist() == [1, 2, 4]
    labels = torch.tensor([1.0, 2, 1, 1, 2])
    assert compiled.ml_nms(boxes, scores, labels, 0.6).tolist() == [1, 2, 3, 4]
    assert compiled.nms(boxes[:0], scores[:0], 0.5).tolist() == []


def test_the_largest_of_each_bin_and_its_place(compiled: Any) -> None:
    images = torch.randn(2, 3, 7, 9)
    boxes = torch.tensor([[0, 1.2, 0.4, 7.9, 6.1], [1, 4.0, 3.0, 30.0, 22.0], [1, 2.0, 2.0, 1.0, 0.1]])
    found, places = compiled.roi_pool_forward(images, boxes, 0.5, 2, 3)
    for k, c, i, j in itertools.product(range(3), range(3), range(2), range(3)):
        image, x1, y1, x2, y2 = (math.floor(v * (0.5 if n else 1) + 0.5) for n, v in enumerate(boxes[k].tolist()))
        high, wide = max(y2 - y1 + 1, 1) / 2, max(x2 - x1 + 1, 1) / 3
        rows = range(max(math.floor(i * high) + y1, 0), min(math.ceil((i + 1) * high) + y1, 7))
        columns = range(max(math.floor(j * wide) + x1, 0), min(math.ceil((j + 1) * wide) + x1, 9))
        values = [(float(images[image, c, y, x]), 9 * y + x) for y, x in itertools.product(rows, columns)]
        assert (found[k, c, i, j].item(), places[k, c, i, j].item()) == max(values, default=(0.0, -1))


def test_the_focal_loss_weighs_what_is_told_apart_badly(compiled: Any) -> None:
    logits, targets = torch.randn(4, 3), torch.tensor([0, 3, -1, 1], dtype=torch.int32)
    found = compiled.sigmoid_focalloss_forward(logits, targets, 3, 2.0, 0.25)
    for i, j in itertools.product(range(4), range(3)):
        p = logits[i, j].sigmoid().item()
        own, other = -0.25 * (1 - p) ** 2 * math.log(p), -0.75 * p**2 * math.log(1 - p)
        wanted = 0.0 if targets[i] < 0 else own if targets[i] == j + 1 else other
        assert found[i, j].item() == pytest.approx(wanted, abs=1e-5)


def _at(plane: torch.Tensor, y: float, x: float) -> float:
    """A value between the pixels of a plane."""
    y, x = min(max(y, 0.0), plane.shape[0] - 1), min(max(x, 0.0), plane.shape[1] - 1)
    corners = itertools.product({math.floor(y), math.ceil(y)}, {math.floor(x), math.ceil(x)})
    return sum(float(plane[i, j]) * (1 - abs(y - i)) * (1 - abs(x - j)) for i, j in corners)


@pytest.mark.parametrize("unmoved", [True, False])
def test_means_of_moved_bins(compiled: Any, unmoved: bool) -> None:
    images, boxes = torch.randn(2, 8, 6, 7), torch.tensor([[1.0, 2, 3, 9, 8], [0, -3, -3, 2, 14]])
    moved = torch.empty(0) if unmoved else torch.randn(2, 4, 3, 3)  # of two classes
    output, count = torch.empty(2, 2, 3, 3), torch.empty(2, 2, 3, 3)
    compiled.deform_psroi_pooling_forward(images, boxes, moved, output, count, unmoved, 0.5, 2, 2, 3, 3, 2, 0.2)
    for k, c, i, j in itertools.product(range(2), range(2), range(3), range(3)):
        x1, y1 = (math.floor(v + 0.5) * 0.5 - 0.5 for v in boxes[k, 1:3].tolist())
        x2, y2 = ((math.floor(v + 0.5) + 1) * 0.5 - 0.5 for v in boxes[k, 3:].tolist())
        wide, high = max(x2 - x1, 0.1), max(y2 - y1, 0.1)
        plane = images[int(boxes[k, 0]), (c * 2 + i * 2 // 3) * 2 + j * 2 // 3]
        across, down = (0.0, 0.0) if unmoved else (float(moved[k, 2 * c + n, i, j]) * 0.2 for n in (0, 1))
        x, y = j * wide / 3 + x1 + across * wide, i * high / 3 + y1 + down * high
        points = [(y + a * high / 6, x + b * wide / 6) for a, b in itertools.product(range(2), range(2))]
        values = [_at(plane, u, v) for u, v in points if -0.5 <= u <= 5.5 and -0.5 <= v <= 6.5]
        assert output[k, c, i, j].item() == pytest.approx(sum(values) / max(1, len(values)), abs=1e-5)
        assert count[k, c, i, j] == len(values)
