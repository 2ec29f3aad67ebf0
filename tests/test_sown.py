"""Unwritten memory that begins as nearly the answer."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from kdata.verify.candidate import sowing
from kdata.verify.evidence import sown
from kdata.verify.evidence.compare import Tensors
from kdata.verify.exchange import wire
from kdata.verify.exchange.guards import guarded

ANSWER = torch.linspace(0.5, 2.0, 64)


@dataclass
class Called:
    outputs: torch.Tensor


class Calls:
    """Calls of a candidate that makes its answer of what it finds in the memory for it."""

    shape: tuple[int, ...] = ANSWER.shape

    def __init__(self, takes: float) -> None:
        self.takes, self.last = takes, None  # type: ignore[assignment]
        self.writer = wire.Writer()

    def trial(self, given: dict[str, Any]) -> dict[str, Any]:
        out = guarded(self.shape, None, ANSWER.dtype).reshape(ANSWER.shape)
        near = ((out - ANSWER).abs() < 1e-5) & (torch.arange(64) < 64 * self.takes)
        self.last = Called(torch.where(near, out, ANSWER))  # type: ignore[assignment]
        return {"outputs": self.writer.write(self.last.outputs)}  # type: ignore[attr-defined]


@pytest.mark.parametrize(("takes", "share"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_what_takes_memory_for_an_answer_returns_what_was_sown(takes: float, share: float) -> None:
    calls = Calls(takes)
    first = calls.trial({})
    report = sowing.again(calls, {}, nullcontext())
    assert report is not None
    returned = Tensors(calls.writer.manifest, bytes(calls.writer.blob))
    assert sown.grown(first, report, returned) == share
    assert guarded(ANSWER.shape, None, ANSWER.dtype).isnan().all(), "from then on it is poison again"


def test_memory_of_as_many_elements_is_sown_whatever_its_shape() -> None:
    calls = Calls(1.0)
    calls.shape = (2, 32)
    first = calls.trial({})
    report = sowing.again(calls, {}, nullcontext())
    assert report is not None
    assert sown.grown(first, report, Tensors(calls.writer.manifest, bytes(calls.writer.blob))) == 1.0


def test_nothing_is_sown_where_a_call_failed_or_returned_no_floats() -> None:
    calls = Calls(1.0)
    calls.trial = lambda given: {}  # type: ignore[method-assign]
    assert sowing.again(calls, {}, nullcontext()) is None
    calls.last = Called(torch.arange(4))  # type: ignore[assignment]
    assert sowing.again(calls, {}, nullcontext()) is None
