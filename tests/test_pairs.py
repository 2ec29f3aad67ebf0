"""Complex inputs that are drawn as pairs of real numbers."""

from __future__ import annotations

import torch

from kdata.verify.reference.pairs import apart, complexes, together
from kdata.verify.reference.values import by_an_ulp, finite, near, upcast


def test_pairs_are_put_together_where_there_were_complex_numbers() -> None:
    given = [torch.randn(3, 4, dtype=torch.complex64).conj(), torch.randn(3, 2), 5]
    assert complexes(given)
    assert not complexes(given[1:])
    pairs = apart(given)
    assert pairs[0].shape == (3, 4, 2)
    assert pairs[1] is given[1]
    doubled = together([pairs[0] * 2, *pairs[1:]], given)
    assert torch.equal(doubled[0], 2 * given[0])
    assert doubled[1] is given[1]
    assert together(given, given)[0] is given[0]


def test_complex_numbers_are_near_finite_and_moved_as_their_parts_are() -> None:
    given = torch.randn(100, dtype=torch.complex64)
    moved = by_an_ulp(given, torch.Generator().manual_seed(0))
    assert not torch.equal(moved, given)
    assert near(given, moved, 1e-6)
    assert not near(given, 1.001 * given, 1e-6)
    assert not finite([torch.complex(torch.zeros(1), torch.full((1,), torch.inf))])
    assert upcast(given).dtype is torch.complex128
