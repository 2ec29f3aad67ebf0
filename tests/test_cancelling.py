"""Factors in half precision that cancel, one of two and one beside shares, and what running maxima reach nearly again."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._pytree import tree_map

from kdata.verify.reference.cancelling import cancelling
from kdata.verify.reference.conditioned import first
from kdata.verify.reference.ties import Ties
from kdata.verify.reference.values import doubles, upcast


def attention(inputs: list[Any]) -> Any:
    """By operators of its own."""
    q, k, v = inputs
    return torch.softmax(q @ k.transpose(-1, -2), dim=-1) @ v


def fused(inputs: list[Any]) -> Any:
    """By torch's own."""
    return functional.scaled_dot_product_attention(*inputs)


def product(inputs: list[Any]) -> Any:
    """Of two matrices."""
    return inputs[0] @ inputs[1]


def drawn(forward: Any, shapes: list[tuple[int, ...]], dtype: torch.dtype) -> list[Tensor] | None:
    """What is found for a function of such inputs."""

    def golden(inputs: list[Any]) -> Any:
        with doubles():
            return forward(tree_map(upcast, inputs))

    given = [torch.randn(shape).to(dtype) for shape in shapes]
    found = cancelling(given, forward, golden, torch.Generator().manual_seed(0))
    return found and found.leaves


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("forward", [attention, fused])
def test_values_beside_equal_shares_cancel(forward: Any, dtype: torch.dtype) -> None:
    found = drawn(forward, [(1, 2, 48, 16), (1, 2, 64, 16), (1, 2, 64, 16)], dtype)
    assert found is not None
    q, _, v = found
    assert not q.any()
    assert torch.equal(v, v.round())
    assert int(v[..., :32, :].sum(-2).abs().min()) > 1000
    assert float(v.double().mean(-2).abs().max()) < 1


def test_two_factors_come_before_one() -> None:
    found = drawn(product, [(8, 64), (64, 8)], torch.float16)
    assert found is not None
    assert all(t.any() for t in found)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_products_of_elements_cancel(dtype: torch.dtype) -> None:
    found = drawn(lambda inputs: (inputs[0].float() * inputs[1].float()).sum(0), [(300, 20), (300, 20)], dtype)
    assert found is not None
    products = found[0].double() * found[1].double()
    assert int(products[:150].sum(0).abs().min()) > 1000
    assert float(products.sum(0).abs().max()) < 0.1 * float(products[:150].sum(0).abs().min())


@pytest.mark.parametrize("shapes", [[(4, 12, 16)], [(4, 12, 16), (4, 1, 1)]])
def test_what_is_summed_over_several_axes_cancels(shapes: list[tuple[int, ...]]) -> None:
    found = drawn(lambda inputs: sum(inputs[1:], inputs[0]).float().mean((1, 2)), shapes, torch.float16)
    assert found is not None
    assert int(found[0].flatten(1)[:, :96].sum(1).abs().min()) > 1000


def test_rows_that_integers_put_together_cancel() -> None:
    groups = torch.arange(300) % 7
    given = torch.randn(300, 20).half()

    def summed(inputs: list[Any]) -> Tensor:
        return inputs[0].new_zeros(7, 20, dtype=torch.float32).index_add(0, inputs[1], inputs[0].float())

    found = cancelling([given, groups], summed, summed, torch.Generator().manual_seed(0))
    assert found is not None
    assert len(found.leaves[1].unique()) == 1
    assert int(found.leaves[0][:150].sum(0).abs().min()) > 1000


@pytest.mark.parametrize(("forward", "found"), [
    (lambda x: x.float().sum(-1) + x.float().sum().sum(0), True),  # a sum of a scalar, along its only dimension
    (lambda x: x.float().sum(-1)[x.float().sum(-1) > -2], False),  # how many there are follows from the numbers
    (lambda x: x.float().sum(-1) / int(x.abs().max() < 100), False),  # outside its domain
])  # fmt: skip
def test_what_has_no_answer_to_such_sums_is_left_alone(forward: Any, found: bool) -> None:
    assert (drawn(lambda inputs: forward(inputs[0]), [(8, 64)], torch.float16) is not None) is found


@pytest.mark.parametrize("terms", [300, 2048])
def test_what_single_precision_loses_of_terms_that_are_added_one_by_one_is_allowed(terms: int) -> None:
    """Where a factor in single precision leaves no whole numbers."""

    def summed(inputs: list[Any]) -> Tensor:
        return (inputs[0].to(inputs[1].dtype) * inputs[1]).sum(-1)

    found = cancelling(
        [torch.randn(64, terms).half(), torch.rand(terms)],
        summed,
        lambda leaves: summed([t.double() for t in leaves]),
        torch.Generator().manual_seed(0),
    )
    assert found is not None
    products = found.leaves[0].float() * found.leaves[1]
    golden = products.double().sum(-1)
    one_by_one = torch.zeros(64)
    halves = torch.zeros(64, dtype=torch.float16)
    for n in range(terms):
        one_by_one += products[:, n]
        halves += products[:, n].half()
    allowed = float((found.rounded - golden).norm())
    assert float((one_by_one - golden).norm()) < allowed < 0.01 * float((halves - golden).norm())


def test_what_is_normalised_does_not_cancel() -> None:
    assert drawn(lambda inputs: functional.layer_norm(inputs[0].float(), (64,)), [(8, 64)], torch.float16) is None


def test_nothing_cancels_in_single_precision() -> None:
    assert drawn(attention, [(1, 2, 48, 16), (1, 2, 64, 16), (1, 2, 64, 16)], torch.float32) is None


@pytest.mark.parametrize(
    ("row", "close"),
    [([1.0, 1.0, 0.5, 1.0], False), ([1.0, 0.5, 1.0 + 1e-6], True), ([1.0, 0.5, 1.0 - 1e-6], True),
     ([1.0, 2.0, 1.0 + 1e-6], False)],
)  # fmt: skip
def test_a_running_maximum_that_is_nearly_met_again(row: list[float], close: bool) -> None:
    with Ties() as ties:
        torch.cummax(torch.tensor([row]), dim=-1)
    assert ties.close is close


def test_running_maxima_promise_the_last_of_equal_ones_and_medians_none() -> None:
    assert first({"cummax"})
    assert not first({"cummin", "median"})
