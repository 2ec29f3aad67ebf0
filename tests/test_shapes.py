"""Shapes that are answered without torch are those that torch answers with, and no failure is lost."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from sources.infer.running.shapes import Shapes

META = torch.device("meta")


def of(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.empty(shape, device=META, dtype=dtype)


def outcome(call: Callable[[], Any]) -> Any:
    """Shapes and dtypes of an answer, or the error's text."""
    try:
        with torch.no_grad():
            answer = call()
    except Exception as error:  # any error is to be the same
        return f"{type(error).__name__}: {error}"
    return [(tuple(t.shape), t.dtype) for t in (answer if isinstance(answer, tuple) else (answer,))]


def alike(call: Callable[[], Any]) -> None:
    alone = outcome(call)
    with Shapes():
        assert outcome(call) == alone


SHAPES = [(8,), (2, 8), (1, 8), (2, 8, 5), (1, 8, 1), (2, 6, 4, 8), (2, 8, 4, 6), (2, 8, 3, 4, 5), (0, 8, 2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64])
def test_functions_of_one_tensor(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = of(*shape, dtype=dtype)
    eight, other, double = of(8), of(6), of(8, dtype=torch.float64)
    for weight, training in itertools.product((None, eight, other, double), (True, False)):
        alike(lambda: F.batch_norm(x, eight, eight, weight, weight, training))  # noqa: B023 - called at once
        alike(lambda: torch.batch_norm(x, weight, None, eight, eight, training, 0.1, 1e-5, False))  # noqa: B023
        alike(lambda: F.batch_norm(x, None, None, weight, None, training))  # noqa: B023
        alike(lambda: F.instance_norm(x, None, None, weight, None, training))  # noqa: B023
        alike(lambda: F.layer_norm(x, (8,), weight))  # noqa: B023
        alike(lambda: F.rms_norm(x, (8,), weight))  # noqa: B023
    for groups in (1, 2, 3, 8, 0):
        alike(lambda: F.group_norm(x, groups, eight, eight))  # noqa: B023
    for p in (0, 0.5, 1.0, 2.0):
        alike(lambda: F.dropout(x, p))  # noqa: B023
    for function in (F.relu, F.gelu, F.hardswish, F.leaky_relu, torch.exp, torch.abs, F.softplus, F.relu6):
        alike(lambda: function(x))  # noqa: B023
    for weight, bias in itertools.product((of(3, 8), of(3, 6), of(8), of(3, 8, dtype=torch.float16)), (None, of(3))):
        alike(lambda: F.linear(x, weight, bias))  # noqa: B023


@pytest.mark.parametrize(("one", "other"), itertools.product(SHAPES, SHAPES))
def test_pairs(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    for dtypes in itertools.product((torch.float32, torch.float16, torch.int64), repeat=2):
        x, y = of(*one, dtype=dtypes[0]), of(*other, dtype=dtypes[1])
        for call in pairs(x, y):
            alike(call)


def pairs(x: Tensor, y: Tensor) -> Iterator[Callable[[], Any]]:
    yield lambda: x + y
    yield lambda: x * y
    yield lambda: torch.sub(x, y)
    yield lambda: x.clone().mul_(y)
    yield lambda: torch.maximum(x, y)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
def test_tensors_and_numbers(dtype: torch.dtype) -> None:
    x = of(2, 3, dtype=dtype)
    for number in (2, 2.5, True, 1j):
        for call in (lambda: x + number, lambda: number - x, lambda: x / number, lambda: x**number,  # noqa: B023
                     lambda: x.clone().add_(number), lambda: x.clone().div_(cast(float, number))):  # noqa: B023  # fmt: skip
            alike(call)


@pytest.mark.parametrize("shape", SHAPES)
def test_interpolation(shape: tuple[int, ...]) -> None:
    x = of(*shape)
    for mode, factor in itertools.product(("nearest", "linear", "bilinear", "trilinear", "area"), (2, 0.5, 1.7, 0.01)):
        alike(lambda: F.interpolate(x, scale_factor=factor, mode=mode))  # noqa: B023
    for size in (7, (7, 9), (0, 9), None):
        for mode in ("nearest", "bilinear"):
            alike(lambda: F.interpolate(x, size, mode=mode))  # noqa: B023
            alike(lambda: F.interpolate(x, size, mode=mode, align_corners=True))  # noqa: B023


def test_attention() -> None:
    q, k, v = of(2, 4, 6, 8), of(2, 4, 5, 8), of(2, 4, 5, 3)
    for given in ((q, k, v), (q, k, k), (q, v, k), (q, k, q), (q[0], k[0], v[0]), (q, k[:1], v[:1])):
        alike(lambda: F.scaled_dot_product_attention(*given))  # noqa: B023
    alike(lambda: F.scaled_dot_product_attention(q, k, v, torch.empty(6, 5, device=META)))


def test_networks() -> None:
    with META:
        lstm, images, text = nn.LSTM(8, 16, 2, batch_first=True, bidirectional=True), nn.Sequential(
            nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Hardswish(), nn.Upsample(scale_factor=2, mode="bilinear"),
            nn.GroupNorm(2, 8), nn.Dropout(), nn.Flatten(), nn.Linear(8 * 20 * 20, 5)), nn.TransformerEncoderLayer(16, 2)  # fmt: skip
    alike(lambda: lstm(of(2, 5, 8))[0])
    alike(lambda: images(of(2, 3, 12, 12)))
    alike(lambda: images(of(2, 3, 13, 12)))
    alike(lambda: text(of(5, 2, 16)))
