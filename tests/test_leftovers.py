"""Parts of what a candidate keeps are put back as an earlier call left them."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
import torch

from kdata.verify.candidate import leftovers
from kdata.verify.candidate.leftovers import Left

TRIALS = [(0, {"x": 1.0}), (1, {"x": 2.0})]


class Kept:
    """A candidate's calls, which keep tensors; what a call answers with is all that it finds there."""

    def __init__(self, *kept: torch.Tensor) -> None:
        self.kept, self.last = kept, object()

    def left(self) -> Left:
        return leftovers.left(self.kept, [])

    def trial(self, given: dict[str, Any]) -> dict[str, Any]:
        return given | {"found": [t.tolist() for t in self.kept]}


def test_what_changed_is_put_back_whole_and_by_halves_and_is_as_it_was_afterwards() -> None:
    calls = Kept(torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.zeros(2))
    before = calls.left()
    calls.kept[0].copy_(torch.tensor([5.0, 6.0, 7.0, 8.0]))
    found = [(n, r["x"], r["found"][0]) for n, r in leftovers.mixed(calls, before, TRIALS, nullcontext)]
    parts = [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 7.0, 8.0], [5.0, 6.0, 3.0, 4.0]
    assert found == [(n, given["x"], part) for part in parts for n, given in TRIALS]
    assert calls.kept[0].tolist() == [5.0, 6.0, 7.0, 8.0]


def test_where_nothing_changed_nothing_is_called() -> None:
    calls = Kept(torch.ones(4))
    assert [*leftovers.mixed(calls, calls.left(), TRIALS, nullcontext)] == []


def test_memory_of_inputs_is_not_the_candidates_own_and_views_share_theirs() -> None:
    given, own = torch.ones(4), torch.ones(8)
    found = leftovers.left([given[1:], own[:4], own[4:]], [given])
    assert [piece.memory.data_ptr() for piece in found] == [own.data_ptr()]


class Anew(Kept):
    """A candidate that takes all that it keeps anew at each call."""

    def trial(self, given: dict[str, Any]) -> dict[str, Any]:
        report = super().trial(given)
        self.kept = tuple(torch.full_like(t, -given["x"]) for t in self.kept)
        return report


def test_memory_that_each_call_takes_anew_is_known_by_its_place() -> None:
    calls = Anew(torch.tensor([1.0]), torch.tensor([[2.0]]))
    before = calls.left()
    calls.kept = torch.tensor([3.0]), torch.tensor([[4.0]])
    found = [r["found"] for _, r in leftovers.mixed(calls, before, TRIALS, nullcontext)]
    assert found == [[[1.0], [[4.0]]]] * 2 + [[[3.0], [[2.0]]]] * 2
    assert [t.tolist() for t in calls.kept] == [[3.0], [[4.0]]]


@pytest.mark.parametrize("count", [leftovers.MOST + 3, 200])  # of the latter none is looked for among all others
def test_of_many_pieces_any_is_put_back_without_any_other(count: int) -> None:
    calls = Kept(*(torch.zeros(1) for _ in range(count)))
    before = calls.left()
    for kept in calls.kept:
        kept.fill_(1.0)
    found = [[part[0] for part in r["found"]] for _, r in leftovers.mixed(calls, before, TRIALS, nullcontext)]
    assert all(any(f[a] < f[b] for f in found) for a in range(count) for b in range(count) if a != b)
