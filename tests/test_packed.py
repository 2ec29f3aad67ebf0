"""Sequences that lie one after another, of other lengths than a task draws."""

from __future__ import annotations

import torch

from kdata.verify.reference.packed import filled, uneven, without_any


def test_one_of_packed_sequences_is_nearly_all() -> None:
    rows, ends, lengths = torch.randn(60, 4), torch.tensor([0, 15, 30, 45, 60]), torch.tensor([10, 30, 4, 16])
    inputs = [rows, ends, lengths, torch.tensor([3, 1])]
    by_ends, by_lengths = (change(inputs) for change in uneven(inputs, [], torch.Generator().manual_seed(0)))
    assert int(by_ends[1].diff().max()) == int(by_lengths[2].max()) == 57
    assert int(by_ends[1][-1]) == int(by_lengths[2].sum()) == 60
    assert torch.equal(by_ends[2], lengths)


def test_none_is_longer_than_what_is_said_to_be_the_longest() -> None:
    rows, lengths, generator = torch.randn(60, 4), torch.tensor([10, 30, 4, 16]), torch.Generator().manual_seed(0)
    for inputs, said in (([rows, lengths], [40]), ([rows, lengths, 40], []), ([rows, lengths, torch.tensor(40)], [])):
        (change,) = uneven(inputs, said, generator)
        assert int(change(inputs)[1].max()) == 40
        assert int(change(inputs)[1].sum()) == 60


def test_ends_of_queries_and_keys_that_are_equal_stay_so() -> None:
    ends = torch.tensor([0, 15, 30, 60])
    inputs = [torch.randn(60, 4), ends, ends.clone()]
    (change,) = uneven(inputs, [], torch.Generator().manual_seed(0))
    _, queries, keys = change(inputs)
    assert torch.equal(queries, keys)


def test_lengths_that_leave_room_become_longer_but_no_longer_than_what_is_said() -> None:
    rows, lengths, generator = torch.randn(4, 50), torch.tensor([10, 16, 4, 12]), torch.Generator().manual_seed(0)
    for said, longest in (([], 49), ([20, 3], 20)):
        (change,) = filled([rows, lengths], {1: 50}, said, generator)
        changed = change([rows, lengths])[1]
        assert int(changed.max()) == longest
        assert bool((changed >= lengths).all())
    assert not [*filled([rows, lengths], {1: 17}, [], generator)]


def test_a_length_is_zero_where_the_answer_to_it_is() -> None:
    def mean(held: list[torch.Tensor]) -> torch.Tensor:
        rows, lengths = held
        kept = torch.arange(rows.shape[1]) < lengths[:, None]
        return (rows * kept).sum(1) / lengths.clamp(min=1)

    given, generator = [torch.randn(4, 50), torch.tensor([10, 16, 4, 12])], torch.Generator().manual_seed(0)
    (change,) = without_any(given, [1], mean, generator)
    assert change(given)[1].sort().values.tolist()[0] == 0
    assert int((change(given)[1] == given[1]).sum()) == 3
    assert not [*without_any(given, [1], lambda held: mean(held) + 1.0, generator)]
