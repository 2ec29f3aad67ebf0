"""Memory that a reference never writes is no answer."""

from __future__ import annotations

import pytest
import torch

from kdata.verify.reference.unwritten import Poisoned


def put(order: list[int], dtype: torch.dtype) -> torch.Tensor:
    x = torch.ones(4, 3, dtype=dtype)
    out = torch.empty_like(x)
    out[torch.tensor(order)] = x
    return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
def test_rows_that_nobody_puts_are_nan_and_all_others_are_themselves(dtype: torch.dtype) -> None:
    with Poisoned():
        whole, partly = put([3, 2, 1, 0], dtype), put([3, 3, 1, 0], dtype)
        made = torch.nn.functional.layer_norm(torch.ones(2, 3, dtype=dtype), (3,)), torch.zeros(2).new_empty(2).fill_(1)
    assert torch.equal(whole, torch.ones_like(whole))
    assert partly[2].isnan().all() and not partly[[0, 1, 3]].isnan().any()
    assert all(t.isfinite().all() for t in made)


def test_integers_stay_as_they_are() -> None:
    with Poisoned():
        assert torch.equal(put([0, 1, 2, 3], torch.int64), torch.ones(4, 3, dtype=torch.int64))
