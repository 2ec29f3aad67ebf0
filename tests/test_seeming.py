"""Rows that look regular at their ends, and are not in between."""

from __future__ import annotations

import torch

from kdata.verify.reference.seeming import LEAST, PROBED, seeming


def made(*inputs: torch.Tensor, ties: bool = True) -> list[torch.Tensor]:
    found = seeming([*inputs], torch.Generator().manual_seed(1), ties)
    assert found is not None
    return found


def test_some_seem_sorted_some_a_progression_and_some_the_row_before() -> None:
    drawn = torch.randn(16, 40)
    (rows,) = made(drawn)
    sure = [*range(PROBED), 38, 39]
    falling, progression, rising, constant = rows[0], rows[2], rows[4], rows[6]
    assert falling[0] == falling.max()
    assert falling[-1] == falling.min()
    assert (falling.diff() > 0).any()
    assert progression[:PROBED].diff().unique().numel() == 1
    assert progression.diff().unique().numel() > 1
    assert rising[0] == rising.min()
    assert (rising.diff() < 0).any()
    assert constant[sure].unique().numel() == 1
    assert constant.unique().numel() > 1
    assert torch.equal(rows[1::2, sure], rows[::2, sure])
    assert (rows[1::2] != rows[::2]).any(-1).all()


def test_they_stay_within_what_was_drawn() -> None:
    drawn = torch.rand(16, 40) + 3
    (rows,) = made(drawn)
    assert torch.equal(rows.clamp(drawn.min(), drawn.max()), rows)


def test_no_two_are_equal_without_ties() -> None:
    (rows,) = made(torch.randn(8, 40), ties=False)
    assert all(row.unique().numel() == 40 for row in rows)


def test_what_is_in_order_stays_so() -> None:
    bounds, drawn = torch.linspace(-2, 2, 40), torch.randn(8, 40)
    assert made(drawn, bounds)[1] is bounds


def test_square_ones_seem_symmetric_and_short_ones_nothing() -> None:
    (matrices,) = made(torch.randn(2, 16, 16))
    first = matrices[0]
    assert torch.equal(first[0], first[:, 0])
    assert not torch.equal(first, first.T)
    assert seeming([torch.randn(8, LEAST - 1), torch.arange(40)], torch.Generator()) is None
