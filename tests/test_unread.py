"""Infinities stand where a reference's mask leaves its inputs out, and nowhere else."""

from __future__ import annotations

from typing import Any

import torch

from kdata.verify.reference.unread import infinite

MASK = torch.arange(64).reshape(8, 8) % 2 == 0


def drawn() -> torch.Tensor:
    return torch.randn(8, 8, generator=torch.Generator().manual_seed(0))


def test_they_stand_under_the_mask_only_and_the_answer_stays() -> None:
    x = drawn()

    def forward(inputs: list[Any]) -> torch.Tensor:
        return inputs[0].masked_fill(inputs[1], 0.0).sum(-1)

    found = infinite([x, MASK], forward, torch.Generator().manual_seed(1))
    assert found is not None
    held = found[0]
    assert torch.isinf(held).any()
    assert not torch.isinf(held[~MASK]).any()
    assert torch.equal(forward(found), forward([x, MASK]))


def test_one_sign_of_them_is_found_where_the_other_would_show() -> None:
    found = infinite([drawn()], lambda given: torch.where(given[0] > 0.5, given[0], 0.0), torch.Generator())
    assert found is not None
    assert torch.isneginf(found[0]).any()
    assert not torch.isposinf(found[0]).any()


def test_there_are_none_where_the_reference_multiplies_or_reads_all_or_cannot_be_derived() -> None:
    mask = MASK.float()
    for forward in (lambda given: given[0] * mask, lambda given: given[0].exp(), lambda given: given[0] > 0):
        assert infinite([drawn()], forward, torch.Generator()) is None


def test_a_mask_that_is_added_is_as_good_and_one_that_is_multiplied_by_is_not() -> None:
    def forward(given: list[Any]) -> torch.Tensor:
        return torch.softmax(given[0].masked_fill(MASK, -torch.inf), -1)

    found = infinite([drawn()], forward, torch.Generator().manual_seed(1))
    assert found is not None
    assert torch.isneginf(found[0]).any()
    assert (found[0] > 1000).any()
    added = torch.softmax(found[0] + torch.zeros(8, 8).masked_fill(MASK, -torch.inf), -1)
    assert torch.equal(added, forward([drawn()]))
    assert (found[0] * ~MASK).isnan().any()
