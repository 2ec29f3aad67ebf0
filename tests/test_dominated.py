"""Rows of one large number and many that are next to nothing beside it, in half precision."""

from __future__ import annotations

import pytest
import torch

from kdata.verify.reference.dominated import BLOCK, FEWEST, Dims, dominated


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["sum", "_softmax"])
def test_a_block_of_the_small_ones_is_lost_beside_the_large_one_and_all_of_them_are_not(
    name: str, dtype: torch.dtype
) -> None:
    (changed,) = dominated([torch.randn(3, 512).to(dtype)], {name}, {}) or []
    assert changed.dtype is dtype
    terms = changed.double() if name == "sum" else (changed.double() - changed.double().max()).exp()
    large, small = terms[:, 0], terms[:, 1:]
    carried = (large + small[:, :BLOCK].sum(-1)).to(dtype)
    assert torch.equal(carried, large.to(dtype))
    assert bool((terms.sum(-1) > large * (1 + 8 * torch.finfo(dtype).eps)).all())


def test_single_precision_short_rows_and_whole_numbers_stay() -> None:
    whole, short = torch.arange(128), torch.randn(3, FEWEST - 1).half()
    assert dominated([torch.randn(3, 512), whole, short], {"sum"}, {}) is None
    changed = dominated([torch.randn(3, 512).half(), whole, short], {"sum"}, {}) or []
    assert changed[1] is whole
    assert changed[2] is short


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_rows_lie_along_what_is_summed(dim: int) -> None:
    given = torch.randn(80, 72, 96).half()
    with Dims() as dims:
        torch.softmax(given.float(), dim)
    (changed,) = dominated([given], {"_softmax"}, dims.found) or []
    assert bool((changed.select(dim, 0) > 0).all())
    assert not changed.narrow(dim, 1, given.shape[dim] - 1).any()
