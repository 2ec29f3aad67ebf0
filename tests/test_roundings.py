"""Tasks that round to half precision on their way: which answers are honest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from kdata.verify.evidence.compare import Nature, errors
from kdata.verify.reference.probe import Meter
from kdata.verify.reference.roundings import but_labels, either_way
from kdata.verify.reference.values import span

NEAR = (1 + 2.0**-8 + 2.0**-22) / 1.5  # times 1.5 it is nearly the middle of two numbers of bfloat16
X = torch.tensor([NEAR, 0.7, -1.3, 100.0])


def ends(forward: Callable[[Tensor], Tensor], x: Tensor) -> tuple[Tensor, Tensor]:
    low, high = span([[forward(x)], *either_way(lambda: [forward(x)])])
    return low[0], high[0]


@pytest.mark.parametrize(
    ("forward", "either"),
    [
        (lambda x: (x * 1.5).half().float(), [False] * 4),
        (lambda x: (x * 1.5).bfloat16().float(), [True, False, False, False]),
        (lambda x: x.bfloat16().float(), [False] * 4),  # what it is given every kernel rounds alike
        (lambda x: torch.cat([x * 1.5, x])[:4].bfloat16().float(), [True, False, False, False]),
        (lambda x: (x.bfloat16() * 2).float(), [False] * 4),
    ],
)
def test_what_is_computed_is_rounded_either_way(forward: Callable[[Tensor], Tensor], either: list[bool]) -> None:
    low, high = ends(forward, X)
    assert (low < high).tolist() == either


def test_operators_that_undo_each_other_do_not_hide_what_they_may_be_off() -> None:
    low, high = ends(lambda x: x * torch.rsqrt(x.square().mean(-1, keepdim=True)), torch.rand(64, 33) + 0.5)
    assert bool((high - low > 4 * torch.finfo(torch.float32).eps * low.abs()).all())


@pytest.mark.parametrize(
    ("forward", "narrows"),
    [
        (lambda x: x.half().float(), True),
        (lambda x: nn.functional.gelu(x.to(torch.bfloat16)), True),
        (lambda x: (x / 2).to(torch.float8_e4m3fn).float(), True),
        (lambda x: x.double().float(), False),
        (lambda x: x.round(), False),
    ],
)
def test_roundings_are_seen_in_what_a_task_calls(forward: Callable[[Tensor], Tensor], narrows: bool) -> None:
    with Meter() as meter:
        forward(X)
    assert meter.cost.narrows == narrows


def test_a_step_within_what_noise_allows_is_no_error_of_the_whole() -> None:
    eager = np.linspace(1.0, 2.0, 10000)
    answer, low, high = eager.copy(), eager.copy(), eager.copy()
    answer[5000] += 3.9e-4
    high[5000] += 3.9e-4
    noisy = [eager + 1e-4 * (np.arange(10000) == n) for n in (7, 8)]  # as it was widened for
    for ends, passed in ((None, False), ((low, high), True)):
        assert errors("output", answer, eager, eager, noisy, "float32", Nature(1, False), ends).passed == passed


def test_labels_are_not_an_ulp_from_what_they_are_compared_with() -> None:
    """Moved by one, a target that is one would be none, and its loss zero: any answer would do."""
    inputs = [torch.rand(4), torch.ones(4)]
    for names, first, second in (({"eq"}, True, False), ({"mul"}, True, True)):
        one, other = but_labels(lambda t: t + 1e-7, inputs, names)
        assert [bool((a != b).any()) for a, b in zip((one, other), inputs, strict=True)] == [first, second]
    (only,) = but_labels(lambda t: t + 1.0, [torch.ones(4)], {"eq"})
    assert bool((only == 2).all())
