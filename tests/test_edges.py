"""Numbers among the inputs at which a reference steps, be they as odd as 0.35."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from kdata.verify.reference.edges import Single, edged, met
from kdata.verify.reference.probe import Meter
from kdata.verify.reference.values import upcast

ODD = (0.3, 0.35)  # of which one is rounded up to single precision, the other one down


def _drawn(*numbers: float, inputs: int = 1) -> list[Tensor]:
    given = [torch.randn(20, 30) for _ in range(inputs)]
    return edged(given, numbers, torch.Generator().manual_seed(0)) or []


def _met(text: Callable[..., Any], inputs: list[Tensor]) -> bool:
    def golden(given: list[Any]) -> Any:
        with Single():
            return text(*map(upcast, given))

    return met(inputs, lambda given: text(*given), golden)


@pytest.mark.parametrize("number", ODD)
def test_what_is_compared_with_a_number_is_that_number(number: float) -> None:
    texts = [lambda x: x > number, lambda x: x <= number, lambda x: x - number >= 0, lambda x: x.clamp(max=number) == x]
    assert all(_met(text, _drawn(number)) for text in texts)


@pytest.mark.parametrize("number", ODD)
def test_one_of_two_is_the_number_and_the_other_is_zero(number: float) -> None:
    assert _met(lambda x, y: (y - x + number) > 0, _drawn(number, inputs=2))


def test_what_was_rounded_on_its_way_is_on_no_side_for_sure() -> None:
    assert not _met(lambda x: x / 0.7 * 0.7 > 0.35, _drawn(0.35))
    assert not _met(lambda x: x.exp() > 1.5, _drawn(0.35))


def test_half_precision_and_no_numbers_stay() -> None:
    generator = torch.Generator()
    assert edged([torch.randn(4, 4).half()], (0.35,), generator) is None
    assert edged([torch.randn(4, 4)], (0.0,), generator) is None


def test_a_text_s_numbers_are_known_wherever_they_stand() -> None:
    threshold = torch.tensor(0.25)
    with Meter() as meter:
        x = torch.randn(4, 4)
        _ = (x > 0.35) & (x > threshold) & (x - 0.5 > 0)
    asks = meter.cost.asks
    assert (asks.borders, asks.added) == ({0.35, 0.25, 0.0}, {0.5})
