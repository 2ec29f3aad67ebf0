"""Lengths that a task draws as long as can be, or as whole pages, are others, too."""

from __future__ import annotations

import torch

from kdata.verify.reference import asked


def test_lengths_that_fill_all_are_lowered_in_order() -> None:
    full, one, mixed = torch.full((5,), 9), torch.ones(4, dtype=torch.int64), torch.tensor([3, 4])
    (change,) = asked.lowered([full, one, mixed], torch.Generator().manual_seed(1))
    changed, *others = change([full, one, mixed])
    assert (int(changed.max()), int(changed.min()) < 9) == (9, True)
    assert (changed[:-1] >= changed[1:]).all()  # as packed sequences are to be
    assert all(torch.equal(a, b) for a, b in zip(others, (one, mixed), strict=True))


def test_lengths_that_fill_whole_pages_fill_them_no_more() -> None:
    lengths, places, where = torch.tensor([32, 8, 16]), torch.tensor([0, 8, 16]), torch.tensor([4, 8, 12])
    (change,) = asked.lowered([lengths, places, where, torch.randn(12)], torch.Generator().manual_seed(1))
    changed = change([lengths, places, where])[0]
    assert (changed <= lengths).all()
    assert (changed > lengths - 8).all()
    assert int(changed[-1]) % 8 == 1
