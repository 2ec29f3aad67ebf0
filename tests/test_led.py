"""Scores of products of which one leads, in half precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from kdata.verify.reference.dominated import BLOCK, FEWEST
from kdata.verify.reference.led import Scores, led


def _attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = q.float() @ k.float().mT * q.shape[-1] ** -0.5
    return (torch.softmax(scores, -1) @ v.float()).to(q.dtype)


def _drawn(dtype: torch.dtype, keys: int = 128, width: int = 32) -> list[Tensor]:
    return [torch.randn(2, 5, width).to(dtype), *(torch.randn(2, keys, width).to(dtype) for _ in range(2))]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("attention", [_attention, scaled_dot_product_attention])
def test_a_block_of_the_others_is_lost_beside_the_one_that_leads_and_all_of_them_are_not(
    attention: Callable[..., Tensor], dtype: torch.dtype
) -> None:
    changed = led(_drawn(dtype), lambda inputs: attention(*inputs)) or []
    q, k, _ = changed
    scores = q.double() @ k.double().mT * q.shape[-1] ** -0.5
    terms = (scores - scores.amax(-1, keepdim=True)).exp()
    carried = (terms[..., 0] + terms[..., 1 : BLOCK + 1].sum(-1)).to(dtype)
    assert torch.equal(carried, torch.ones_like(carried))
    assert bool((terms.sum(-1) > 1 + 3 * torch.finfo(dtype).eps).all())


def test_a_query_that_is_a_weight_leads_too_whatever_its_sign() -> None:
    query = -torch.rand(32)

    def pooled(inputs: list[Any]) -> Tensor:
        with_weight = torch.softmax(inputs[0].float() @ query, 1)
        return (with_weight[..., None] * inputs[0].float()).sum(1).bfloat16()

    changed = led([torch.randn(4, 128, 32).bfloat16()], pooled) or []
    with Scores() as scores:
        pooled(changed)
    assert scores.found is not None
    assert bool((scores.found.argmax(1) == 0).all())


def test_single_precision_few_keys_and_scores_that_are_given_stay() -> None:
    assert led(_drawn(torch.float32), lambda inputs: _attention(*inputs)) is None
    assert led(_drawn(torch.float16, keys=FEWEST - 1), lambda inputs: _attention(*inputs)) is None
    assert led([torch.randn(4, 128).half()], lambda inputs: torch.softmax(inputs[0], -1)) is None
