"""Indices of which others would do: what a reference names of equal elements, and what a candidate may."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor

from kdata.verify.evidence.compare import UnequalError, exactly
from kdata.verify.reference.choices import Choices
from kdata.verify.reference.ties import ByPlace, either_place

LABELS = torch.tensor([[2, 0, 2, 1, 0, 2], [1, 1, 1, 0, 0, 2]])
Call = Callable[[Tensor], Any]


def _holds(call: Call, answer: list[Any]) -> bool:
    with Choices() as choices:
        eager = call(LABELS)
    parts = [part.numpy() for part in choices.of(eager)]
    try:
        exactly("output", torch.tensor(answer).numpy(), eager.numpy(), None, None, (parts[0], parts[1]))
    except UnequalError:
        return False
    return True


@pytest.mark.parametrize(("answer", "right"), [
    ([[4, 1, 3, 5, 2, 0], [4, 3, 0, 2, 1, 5]], True),
    ([[1, 1, 3, 0, 2, 5], [3, 4, 0, 1, 2, 5]], False),  # one twice
    ([[1, 4, 0, 3, 2, 5], [3, 4, 0, 1, 2, 5]], False),  # another one
    ([[1, 4, 3, 0, 2, 6], [3, 4, 0, 1, 2, 5]], False),  # none
])  # fmt: skip
@pytest.mark.parametrize("call", [torch.argsort, lambda x: x.sort(1).indices.int().contiguous()])
def test_equal_ones_come_in_any_order_each_once(call: Call, answer: list[Any], right: bool) -> None:
    assert _holds(call, answer) == right


def test_a_part_of_indices_is_such_a_part() -> None:
    assert _holds(lambda x: x.argsort(1)[:, 1:4], [[1, 3, 5], [3, 2, 0]])
    assert not _holds(lambda x: x.argsort(1)[:, 1:4], [[1, 3, 3], [3, 2, 0]])
    assert _holds(lambda x: x.T.argsort(0).T[:, :2], [[4, 1], [4, 3]])


def test_of_one_element_any_that_is_equal_is_named() -> None:
    assert _holds(lambda x: x.kthvalue(3).indices, [3, 1])
    assert _holds(lambda x: x.median(1, keepdim=True).indices, [[3], [2]])
    assert _holds(lambda x: x.mode(1).indices, [5, 0])
    assert not _holds(lambda x: x.mode(1).indices, [1, 0])
    assert _holds(lambda x: x.topk(2).indices, [[5, 2], [5, 0]])


@pytest.mark.parametrize("call", [
    lambda x: x.sort(stable=True).indices, torch.argmax, lambda x: x.sort().values,
    lambda x: torch.arange(6)[None].argsort(), lambda x: x.argsort(1).add_(torch.tensor([[0], [6]])),
    lambda x: x.argsort(1)[:, 1:].clone().mul_(2),
])  # fmt: skip
def test_of_what_is_promised_nothing_else_would_do(call: Call) -> None:
    with Choices() as choices:
        answer = call(LABELS)
    assert choices.of(answer) == []


@pytest.mark.parametrize("call", [
    lambda x: x.sort(), lambda x: x.sort(0, descending=True), lambda x: x.kthvalue(2), lambda x: x.mode(0),
    lambda x: x.median(1, keepdim=True), lambda x: torch.nanmedian(x.float(), 1),
])  # fmt: skip
def test_whatever_is_chosen_has_the_same_value(call: Call) -> None:
    usual = call(LABELS)
    for backwards, turned in ((False, 0), (True, 0), (False, 1)):
        with ByPlace(backwards, turned):
            values, indices = call(LABELS)
        assert torch.equal(values, usual.values) and indices.shape == usual.indices.shape
    names = {"sort", "kthvalue", "mode", "median", "nanmedian"}
    answers = list(either_place(lambda: [call(LABELS).indices], names))
    assert any(not torch.equal(a, b) for (a,), (b,) in pairwise(answers))
