"""Inputs and weights of magnitudes that tasks draw none of, values that references ask about, and how weights are set."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from kdata.verify.candidate.setting import others, rehome, set_mode, weigh
from kdata.verify.exchange.guards import intact
from kdata.verify.reference import along, asked, magnitudes
from kdata.verify.reference.answering import enlarged
from kdata.verify.reference.draws import draw
from kdata.verify.reference.probe import Asks, Meter
from kdata.verify.reference.values import by_an_ulp, upcast

ROWS = len(magnitudes.LADDER)


def measures(forward: Any) -> magnitudes.Measures:
    generator = torch.Generator().manual_seed(1)
    return magnitudes.Measures(
        lambda inputs: forward(*inputs),
        lambda inputs: forward(*[upcast(t) for t in inputs]),
        lambda inputs: forward(*[by_an_ulp(t, generator) for t in inputs]),
    )


def mixed(forward: Any) -> magnitudes.Mixed | None:
    return magnitudes.mixed([torch.randn(ROWS, 8, generator=torch.Generator().manual_seed(0))], measures(forward))


def metered(forward: Any, *inputs: Any) -> Any:
    with Meter() as meter, torch.no_grad():
        forward(*inputs)
    return meter.cost


def test_rows_have_all_magnitudes_that_a_reference_bears() -> None:
    found = mixed(torch.relu)
    assert found is not None
    assert sorted(found.scales) == sorted(magnitudes.LADDER)
    assert found.homogeneous


def test_exponentials_have_rows_up_to_where_they_are_finite() -> None:
    found = mixed(torch.exp)
    assert found is not None
    assert 20.0 in found.scales
    assert max(found.scales) < 100.0
    assert torch.isfinite(torch.exp(found.inputs[0])).all()
    assert not found.homogeneous


def test_what_is_linear_only_near_zero_is_not_homogeneous() -> None:
    found = mixed(torch.tanh)
    assert found is not None
    assert not found.homogeneous


def test_rows_that_depend_on_each_other_have_no_magnitudes_of_their_own() -> None:
    assert mixed(lambda x: x / x.abs().sum(0)) is None
    assert mixed(lambda x: x.sum()) is None


@pytest.mark.parametrize("forward", [lambda x: x / x.square().sum(0).add(1e-6).sqrt(), lambda x: x.square().sum(0)])
def test_columns_have_magnitudes_where_rows_depend_on_each_other(forward: Any) -> None:
    columns = torch.randn(8, ROWS, generator=torch.Generator().manual_seed(0))
    found = along.mixed([columns, 3], measures(lambda x, _: forward(x)))
    assert found is not None
    assert found.dim == 1
    assert {1e6, 1e-12} <= {*found.scales}
    assert torch.allclose(found.inputs[0], columns * torch.tensor(found.scales))
    assert found.inputs[0].is_contiguous()


def test_columns_have_none_where_they_are_few_or_rows_have_them() -> None:
    few, rows = torch.randn(8, 6), torch.randn(ROWS, ROWS)
    assert along.mixed([few], measures(lambda x: x / x.square().sum(0).add(1e-6).sqrt())) is None
    found = along.mixed([rows], measures(torch.relu))
    assert found is not None
    assert found.dim == 0


def test_a_product_sums_over_the_dimension_that_its_factors_share() -> None:
    wide = nn.Linear(8, 512)
    assert metered(wide, torch.randn(4, 8)).terms == 8
    assert metered(nn.Linear(512, 8), torch.randn(4, 512)).terms == 512
    assert metered(torch.bmm, torch.randn(2, 4, 16), torch.randn(2, 16, 256)).terms == 16
    assert metered(torch.mv, torch.randn(256, 16), torch.randn(16)).terms == 16


def test_a_forward_shows_what_it_asks_about() -> None:
    labels = torch.zeros(4, dtype=torch.int64)
    loss = nn.CrossEntropyLoss(ignore_index=7)
    asks = metered(lambda x: loss(torch.nan_to_num(x), labels) + (labels == -3).sum(), torch.randn(4, 8)).asks
    assert asks.oddities
    assert asks.numbers >= {7, -3}
    assert not asks.ignored
    assert metered(nn.CrossEntropyLoss(), torch.randn(4, 8), labels).asks == Asks(ignored={-100}, places=True)
    assert metered(torch.isfinite, torch.randn(4)).asks.oddities
    assert metered(torch.copysign, torch.randn(4), torch.randn(4)).asks.signs


def test_a_bag_asks_about_what_is_no_word() -> None:
    for padding, asked_about in ((2, {2}), (None, set())):
        bag = torch.nn.EmbeddingBag(9, 4, padding_idx=padding)
        with Meter() as meter:
            bag(torch.tensor([[2, 2, 3], [1, 2, 5]]))
        assert meter.cost.asks.numbers == asked_about


def test_inputs_hold_what_is_asked_about() -> None:
    inputs = [torch.randn(8, 8), torch.arange(64)]
    asks = Asks(oddities=True, signs=True, numbers={-5})
    changed: list[Any] = inputs
    for change in asked.changes(inputs, asks, torch.Generator().manual_seed(0)):
        changed = change(changed) or changed
    assert torch.isnan(changed[0]).any()
    assert (torch.signbit(changed[0]) & (changed[0] == 0)).any()
    assert (changed[1] == -5).any()


def test_integers_grow_and_masks_of_them_do_not() -> None:
    inputs = [torch.tensor([0, 1, 1]), torch.tensor([0, 5, 9, 5])]
    ((little, *more),) = asked.larger(inputs, torch.Generator())
    bits = ((1 << b - 1, 1 << b) for b in asked.BITS)
    ends = ((10, 30), *bits, *((9 * times, 11 * times) for times in asked.LITTLE))
    for change, (least, most) in zip((little, *more), ends, strict=True):
        made = change(inputs)
        assert made is not None
        assert torch.equal(made[0], inputs[0])
        grown = made[1].tolist()
        assert grown[0] == 0 < grown[1] == grown[3] < grown[2]
        assert least < grown[2] < most
    assert grown[1] % 2 == 1  # half precision holds multiples of two up to 4096, and no others beyond 2048


def test_integers_that_grow_are_no_multiples_of_one_number() -> None:
    one, other = torch.arange(2, 99), torch.arange(2, 99).flip(0)
    for place, (_, most, *_) in enumerate(asked.larger([one, other], torch.Generator())):
        made = most([one, other])
        assert made is not None
        assert int(made[place].max()) > 1 << 38
        assert len(torch.gcd(made[place][1:], made[place][:1]).unique()) > 2


def test_an_answer_of_32_bits_is_not_asked_for_more() -> None:
    keys, generator = [torch.tensor([[3, 1, 2, 7]])], torch.Generator().manual_seed(0)
    for answer, bits in ((lambda held: held[0].sort().values, 40), (lambda held: held[0].float().softmax(-1), 28)):
        measures = magnitudes.Measures(answer, answer, answer)
        found = enlarged(measures, keys, generator, frozenset())
        assert found is not None
        assert 1 << bits - 1 < int(found[0].max()) < 1 << bits


def test_an_end_of_a_sequence_moves_to_the_one_before_it() -> None:
    inputs = [torch.randn(9, 4), torch.tensor([0, 3, 5, 9]), torch.tensor([2, 6, 9]), torch.tensor([0, 4, 4, 9])]
    changed = [change(inputs) for change in asked.emptied(inputs, torch.Generator().manual_seed(0))]
    assert len(changed) == 2  # the last one has an empty one
    for made, place in zip(changed, (1, 2), strict=True):
        steps = made[place].diff()
        assert int((steps == 0).sum()) == 1
        assert int(made[place][-1]) == 9


def test_integers_crowd_and_narrow_ones_are_large_but_ends_stay() -> None:
    inputs = [
        torch.randn(9, 4),
        torch.tensor([3, 1, 3, 0]),
        torch.tensor([0, 4, 9]),
        torch.tensor([5, 7], dtype=torch.int8),
    ]
    crowded, laden = (draw(style, inputs, torch.Generator().manual_seed(0)) for style in ("crowded", "laden"))
    assert crowded is not None
    assert crowded[1].tolist() == [3, 3, 3, 3]
    assert torch.equal(crowded[2], inputs[2])
    assert laden is not None
    assert torch.equal(laden[1], inputs[1])
    assert int(laden[3].min()) > 119


def test_indices_are_of_any_row_of_a_table() -> None:
    ids, generator = torch.randint(0, 2, (64,)), torch.Generator().manual_seed(0)
    (change,) = asked.looked_up([ids], [{"table": torch.randn(4, 8)}], generator)
    assert set(change([ids])[0].tolist()) == {0, 1, 2, 3}
    words, starts = torch.tensor([3, 1, 2, 3]), torch.tensor([0, 1, 4])
    (change,) = asked.looked_up([words, starts], [{"table": torch.randn(4, 8)}], generator)  # no word is the first row
    assert 0 in change([words, starts])[0].tolist()
    assert not [*asked.looked_up([torch.tensor([0, 3])], [{"table": torch.randn(4, 8)}], generator)]


def test_the_ones_of_a_mask_become_zeros_and_its_zeros_stay() -> None:
    mask = torch.tril(torch.ones(16, 16))
    made = draw("nearly", [mask, mask.bool()], torch.Generator().manual_seed(0))
    assert made is not None
    for changed in made:
        assert set(changed.unique().tolist()) == {0, 1}
        assert 0 < int((changed != mask).sum()) < 40
        assert not changed.bool()[mask == 0].any()


def test_a_thousandth_of_the_elements_changes_and_no_end() -> None:
    values, words = torch.randn(40, 50), torch.arange(60).flip(0)
    made = draw("barely", [values, words], torch.Generator().manual_seed(0))
    assert made is not None and torch.equal(made[1], words)
    changed = (made[0] != values).flatten().nonzero()[:, 0].tolist()
    assert 1 <= len(changed) < 10 and not {0, 1999}.intersection(changed)
    assert bool((made[0].abs() <= values.abs()).all()) and torch.equal(made[0].sign(), values.sign())


def test_of_integers_alone_two_change_places_unless_they_are_in_order() -> None:
    words, segments = torch.arange(60).flip(0), torch.arange(60) // 7
    made = draw("barely", [words, segments], torch.Generator().manual_seed(0))
    assert made is not None and torch.equal(made[1], segments)
    assert int((made[0] != words).sum()) == 2 and torch.equal(made[0].sort().values, words.sort().values)
    assert draw("barely", [segments], torch.Generator().manual_seed(0)) is None
    made = draw("barely", [torch.zeros(4), words], torch.Generator().manual_seed(0))  # zeros stay, whatever they become
    assert made is not None and int((made[1] != words).sum()) == 2


class Hoarder(nn.Linear):
    """Keeps what it is told while it is loaded."""

    def load_state_dict(self, state: Any, strict: bool = True, assign: bool = False) -> Any:
        self.told = [state["weight"]]
        return super().load_state_dict(state, strict, assign)


def test_weights_are_those_that_stand_in_a_module_when_it_is_called() -> None:
    model = Hoarder(4, 4)
    state = {"weight": torch.randn(4, 4), "bias": torch.randn(4)}
    weigh(model, state, others(state))
    assert torch.equal(model.weight, state["weight"])
    assert not torch.equal(model.told[0], state["weight"])


class Listing(nn.Linear):
    """Whoever lists its parameters, it takes that down."""

    listed = 0

    def named_parameters(self, *args: Any, **kwargs: Any) -> Any:
        self.listed += 1
        return super().named_parameters(*args, **kwargs)


def test_weights_are_moved_without_asking_for_them() -> None:
    model = nn.Sequential(Listing(3, 3), nn.BatchNorm1d(3))
    model.append(model[0])
    held, before = model[0].weight, model[0].weight.data_ptr()
    values = held.detach().clone()
    rehome(model, "cpu")
    assert model[0].weight is held
    assert held.data_ptr() != before
    assert torch.equal(held, values)
    assert intact(held)
    assert intact(model[1].running_var)
    assert model[0].listed == 0


def test_a_mode_may_be_left_and_taken_up_again() -> None:
    model, frozen = nn.Sequential(nn.Dropout()), nn.Sequential(nn.Dropout().eval())
    for module in (model, frozen):
        before = [part.training for part in module.modules()]
        set_mode(module, "train", turned=True)
        assert [part.training for part in module.modules()] == before
        set_mode(module, "eval", turned=True)
        assert not any(part.training for part in module.modules())


def test_what_overflows_on_the_way_is_heard_of_though_the_answer_is_finite() -> None:
    large = [torch.full((4,), 100.0)]
    sigmoid = measures(lambda x: 1 / (1 + torch.exp(x)))
    assert sigmoid.bears(large)
    assert not sigmoid.holds(large)
    assert sigmoid.holds([large[0] / 10])


def test_gates_are_lifted_and_masks_are_not() -> None:
    drawn, mask = torch.randn(4, 8), torch.triu(torch.full((8, 8), -torch.inf), 1)
    generator = torch.Generator()
    lifted, raised = (draw(style, [drawn, mask, drawn - 0.1], generator) for style in ("lifted", "raised"))
    assert lifted is not None
    assert raised is not None
    assert torch.equal(lifted[0], drawn) and torch.equal(lifted[1], mask) and float(lifted[2].mean()) > 4
    assert float(raised[0].mean()) > 4 and torch.equal(raised[2], drawn - 0.1)


def test_every_other_input_is_faint_and_single_numbers_and_labels_are_not() -> None:
    drawn, scale, labels = torch.randn(6), torch.tensor(3.0), torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    given, generator = [drawn, scale, labels, drawn + 1], torch.Generator()
    faint, dim = (draw(style, given, generator) for style in ("faint", "dim"))
    assert faint is not None
    assert dim is not None
    assert [torch.equal(one, other) for one, other in zip(faint, given, strict=True)] == [True, True, True, False]
    assert [torch.equal(one, other) for one, other in zip(dim, given, strict=True)] == [False, True, True, True]
    assert float(faint[3].abs().max()) < 1e-6
    assert draw("faint", [drawn, scale, labels], generator) is None


def test_labels_have_no_magnitude() -> None:
    labels = torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    for style in ("wide", "huge", "above", "tailed"):
        drawn = draw(style, [torch.randn(6, 4), labels], torch.Generator().manual_seed(0))
        assert drawn is not None and torch.equal(drawn[1], labels), style


def test_gradients_are_asked_for_at_numbers_whose_exponential_is_too_large() -> None:
    x = torch.randn(8, 8, generator=torch.Generator().manual_seed(0))
    found = magnitudes.stretched([x], measures(torch.sigmoid))
    assert found is not None and float(found[0].abs().max()) == pytest.approx(120.0)
    assert magnitudes.stretched([x * 1000], measures(torch.sigmoid)) is None  # as large as it is
    labels = torch.eye(8)
    assert magnitudes.stretched([labels], measures(torch.sigmoid)) is None
    exponential = magnitudes.stretched([x], measures(torch.exp))
    assert exponential is not None and float(exponential[0].abs().max()) == pytest.approx(60.0)


def test_sums_of_products_stay_below_what_a_backward_makes_once_more_in_another_order() -> None:
    q, k = torch.randn(2, 8, 8, generator=torch.Generator().manual_seed(0))
    found = magnitudes.stretched([q, k], measures(lambda q, k: torch.softmax(q @ k.mT, -1)))
    assert found is None or float((found[0] @ found[1].mT).abs().max()) <= magnitudes.RECOMPUTED
