"""Integers that are true, narrow or equal, batches of more than one, and how far a reference's own rounding goes."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from kdata.verify.constants import says_ignored
from kdata.verify.reference import asked, magnitudes
from kdata.verify.reference.asked import Change, lone
from kdata.verify.reference.batches import batched
from kdata.verify.reference.casts import Casts
from kdata.verify.reference.draws import draw
from kdata.verify.reference.magnitudes import RootsApart
from kdata.verify.reference.probe import Meter, Prober
from kdata.verify.reference.questions import Asks
from kdata.verify.reference.reference import Reference
from kdata.verify.reference.sure import LEAST, MOST, sure
from kdata.verify.reference.values import altered, by_an_ulp, doubles, own_epsilon, upcast
from kdata.verify.reference.variants import plan


def made(change: Change, *inputs: Tensor) -> list[Tensor]:
    """The inputs after a change that applies."""
    changed = change([*inputs])
    assert changed is not None
    return changed


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("F.cross_entropy(x, t)", False),
        ("F.cross_entropy(x, t, ignore_index=self.pad)", True),
        ("def get_init_inputs(): return [-100]", True),
        ("def __init__(self, ignore_index=-100): pass", True),
        ("x * 100", False),
    ],
)
def test_who_says_what_does_not_count_asks_about_it(text: str, says: bool) -> None:
    assert says_ignored(text) == says
    asks = Asks(numbers={0}, ignored={-100})
    asks.told()
    assert (asks.numbers, asks.ignored) == ({0, -100}, set())


def test_whatever_is_not_zero_is_true() -> None:
    mask, numbers = torch.arange(64) % 2, torch.arange(64)
    (change,) = asked.changes([mask, numbers], Asks(truths=True), torch.Generator().manual_seed(1))
    changed, same = made(change, mask, numbers)
    assert torch.equal(changed != 0, mask != 0)
    assert {-1, 2} <= set(changed.unique().tolist())
    assert torch.equal(same, numbers)


@pytest.mark.parametrize(
    ("cast", "undefined"),
    [
        (lambda t: (t * 10).long(), False),
        (lambda t: (t * 1e30).long(), True),
        (lambda t: (t * 1e30).clamp(0, 9).long(), False),
        (lambda t: (t * 1000).to(torch.int8), True),
        (lambda t: (t * math.nan).int(), True),
        (lambda t: torch.empty(t.shape, dtype=torch.int32).copy_(t * 1e10), True),
        (lambda t: t.double(), False),
    ],
)
def test_no_integer_is_made_of_what_is_beyond_all(cast: Any, undefined: bool) -> None:
    with Casts() as casts:
        cast(torch.tensor([0.5, -1.0, 2.5]))
    assert casts.undefined == undefined


@pytest.mark.parametrize(("ignored", "asked_about"), [({}, set()), ({"ignore_index": -1}, {-1})])
def test_targets_count_by_default_where_labels_are_smoothed(ignored: dict[str, int], asked_about: set[int]) -> None:
    with Meter() as meter:
        nn.functional.cross_entropy(torch.rand(4, 5), torch.arange(4), label_smoothing=0.1, **ignored)
    assert meter.cost.asks.numbers == asked_about
    assert meter.cost.asks.ignored == (set() if ignored else {-100})


@pytest.mark.parametrize("name", ["logical_not", "count_nonzero", "nonzero", "argwhere", "neg"])
def test_integers_are_truths_where_an_operator_takes_them_so(name: str) -> None:
    with Meter() as meter:
        getattr(torch, name)(torch.tensor([0, 1]))
    assert meter.cost.asks.truths is (name != "neg")


@pytest.mark.parametrize(
    ("ask", "asks"),
    [
        (torch.isnan, True),
        (torch.isfinite, True),
        (torch.nanmean, True),
        (torch.Tensor.nan_to_num_, True),
        (lambda x: x != x, True),
        (lambda x: torch.where(x.isnan(), 0.0, x), True),
        (lambda x: torch.quantile(x, 0.5), False),  # which asks on its way
        (lambda x: nn.functional.softmax(x, -1), False),
        (lambda x: nn.functional.softmax(x, -1).nan_to_num(), False),  # of what sees nothing
    ],
)
def test_nan_is_asked_about_where_the_text_asks_itself(ask: Any, asks: bool) -> None:
    with Meter() as meter:
        ask(torch.rand(8))
    assert meter.cost.asks.oddities is asks


@pytest.mark.parametrize(
    ("ask", "numbers"),
    [
        (lambda x: x >= 0, {0, -1}),
        (lambda x: x < 3, {3, 2}),
        (lambda x: x > 3, {3, 4}),
        (lambda x: x == 3, {3}),
        (lambda x: x.float() >= 0, set()),
    ],
)
def test_a_reference_that_compares_integers_asks_about_both_sides(ask: Any, numbers: set[int]) -> None:
    with Meter() as meter:
        ask(torch.arange(8))
    assert meter.cost.asks.numbers == numbers


@pytest.mark.parametrize(
    ("ends", "numbers"),
    [({"min": 1}, {0, -2}), ({"max": 3}, {4, 6}), ({"min": 0, "max": 7}, {-1, 8, -3, 10}), ({"min": 0.5}, set())],
)
def test_a_reference_that_clamps_integers_asks_about_what_is_beyond(ends: Any, numbers: set[int]) -> None:
    with Meter() as meter:
        torch.arange(8).clamp(**ends)
    assert meter.cost.asks.numbers == numbers


@pytest.mark.parametrize(("by", "places"), [(2, False), (torch.ones(8, dtype=torch.int64), True)])
def test_what_integers_are_shifted_by_is_none_below_zero_and_what_is_shifted_may_be(by: Any, places: bool) -> None:
    with Meter() as meter:
        torch.arange(8) << by
    assert meter.cost.asks.places is places


def test_a_reference_asks_about_the_ends_that_it_keeps_numbers_within() -> None:
    with Meter() as meter:
        nn.functional.hardtanh(torch.rand(8).clamp(-0.5, 2.0) * (torch.rand(8) > 0.25), -3.0, 4.0)
    assert meter.cost.asks.borders == {-0.5, 2.0, 0.25, -3.0, 4.0}


def test_one_target_of_all_counts() -> None:
    labels = torch.tensor([3, -1, 4, -1, 5])
    generator = torch.Generator().manual_seed(0)
    alone = [change([torch.rand(5), labels]) for change in lone([torch.rand(5), labels], Asks(numbers={-1}), generator)]
    assert len(alone) == 3
    assert {tuple(sorted(held[1].tolist())) for held in alone if held} == {(-1, -1, -1, -1, n) for n in (3, 4, 5)}
    assert not list(lone([labels], Asks(numbers={7}), generator))


def test_a_deviation_is_borne_where_its_variance_is() -> None:
    with RootsApart():
        assert torch.isinf(torch.tensor([1e30, -1e30]).std())
        torch.testing.assert_close(torch.std_mean(torch.tensor([1.0, 3.0]))[0], torch.tensor(2.0).sqrt())


@pytest.mark.parametrize(("count", "most"), [(1, 1e30), (2, 1e12), (3, 1e12), (4, 1e8)])
def test_a_product_of_all_inputs_is_finite_in_any_order(count: int, most: float) -> None:
    inputs: list[Any] = [torch.ones(2, 4) for _ in range(count)]
    found = magnitudes.uniform(inputs, magnitudes.FARTHEST, lambda _: True)
    assert found is not None
    assert float(found[0].max()) == pytest.approx(most)


def test_narrow_integers_are_drawn_up_to_their_largest() -> None:
    pixels = torch.randint(0, 100, (16, 16), dtype=torch.uint8)
    ((little, *_),) = asked.larger([pixels], torch.Generator().manual_seed(0))
    assert int(made(little, pixels)[0].max()) > 200
    ((little, *_),) = asked.larger([pixels.to(torch.int8) - 50], torch.Generator().manual_seed(0))
    assert int(made(little, pixels.to(torch.int8) - 50)[0].min()) < -100  # none are less where none are negative


def test_indices_that_all_differ_meet_and_positions_do_not() -> None:
    indices, positions = torch.tensor([3, 0, 2, 1, 5, 4]), torch.arange(6)
    (change,) = asked.repeated([indices, positions], torch.Generator().manual_seed(0))
    changed, same = made(change, indices, positions)
    assert changed.unique().numel() < 6
    assert set(changed.tolist()) <= set(indices.tolist())
    assert torch.equal(same, positions)


TASK = """
import torch
class Model(torch.nn.Module):
    def forward(self, a, b):
        return {answer}
def get_inputs():
    return [torch.randn({first}, 16), torch.randn({second})]
def get_init_inputs():
    return []
"""


def batch(first: int, second: str, answer: str = "a + b") -> dict[str, int] | None:
    """The sizes of a task with more in its batch."""
    prober = Prober(TASK.format(first=first, second=second, answer=answer), "Model")
    prober.near = True
    found = batched(prober, {}, ["get_inputs[0]", "get_inputs[2]"])
    return None if found is None else found[0]


def test_a_batch_of_one_has_more_elsewhere() -> None:
    assert batch(1, "1, 16") == {"get_inputs[0]": 2, "get_inputs[2]": 2}
    assert batch(1, "16") == {"get_inputs[0]": 2}


def test_a_one_that_is_broadcast_is_no_batch() -> None:
    assert batch(4, "1, 16") is None
    assert batch(1, "1, 16", "a.view(16) + b.view(16)") is None


def test_a_batch_is_among_the_sizes_at_trust_only() -> None:
    text = TASK.format(first=1, second="16", answer="a + b")
    kinds = [[v.kind for v in plan(Prober(text, "Model"), 4, thorough)] for thorough in (False, True)]
    assert "batch" not in kinds[0]
    assert "batch" in kinds[1]


def test_the_epsilon_of_a_norm_is_its_dtypes_in_fp64_too() -> None:
    small, norm = torch.randn(4, 8) * 1e-4, nn.RMSNorm(8)
    with torch.no_grad():
        eager = norm(small)
        with doubles(), own_epsilon([small]):
            golden = norm.double()(upcast(small))
        torch.testing.assert_close(golden.float(), eager)
        assert not torch.allclose(norm(upcast(small)).float(), eager, rtol=0.1)


def test_what_is_compared_roughly_knows_its_own_rounding() -> None:
    source = TASK.format(first=8, second="16, 8", answer="torch.softmax(a @ b, -1)")
    payload = {"source": source, "entry_point": "Model", "variants": 1, "seeds": [1], "level": "trust", "whole": 0,
               "precision": "ieee"}  # fmt: skip
    reference = Reference(payload)
    reference._slim = True
    run = reference.prober.forward({})
    assert run is not None
    program, inputs = reference.prober.program({}), [torch.randn(8, 16) * 30, torch.randn(16, 8) * 30]
    kept = reference._expect(program, {}, inputs, torch.Generator().manual_seed(0))
    assert kept["golden"] is None
    assert len(kept["noisy"]) == 1


def test_positions_are_given_in_another_order() -> None:
    positions, offsets = torch.arange(9).expand(2, 9), torch.tensor([0, 3, 4, 9])
    (change,) = asked.reordered([torch.randn(9), offsets, positions], torch.Generator().manual_seed(1))
    _, same, changed = change([torch.randn(9), offsets, positions])
    assert torch.equal(same, offsets)
    assert not torch.equal(changed, positions)
    assert torch.equal(changed.sort(-1).values, positions)


def test_numbers_between_zero_and_one_become_these() -> None:
    shares, labels, plain = torch.rand(64), torch.randint(0, 2, (64,)).float(), torch.randn(64)
    (change,) = asked.ended([plain, labels, shares], torch.Generator().manual_seed(1))
    same, _, changed = change([plain, labels, shares])
    assert torch.equal(same, plain)
    assert {0.0, 1.0} <= set(changed.tolist())
    assert int((changed == shares).sum()) > 32


def test_integers_that_are_compared_with_zero_are_truths() -> None:
    for function, truths in ((torch.ne, True), (torch.eq, True), (torch.gt, False)):
        with Meter() as meter:
            function(torch.tensor([0, 1]), 0)
        assert meter.cost.asks.truths is truths


def test_some_of_the_weights_are_zero() -> None:
    state = {"gamma": torch.ones(64), "slope": torch.ones(1), "table": torch.ones(64)}
    (drawn,) = magnitudes.absent(state, ["gamma", "slope"], torch.Generator().manual_seed(1))
    assert 0 < int((drawn["gamma"] == 0).sum()) < 64
    assert torch.equal(drawn["slope"], state["slope"])
    assert torch.equal(drawn["table"], state["table"])


def test_numbers_of_usual_size_stand_in_masks_that_are_added() -> None:
    generator = torch.Generator().manual_seed(1)
    for far in (-1e9, -torch.inf):
        mask = torch.triu(torch.full((30, 30), far), 1)
        (change,) = asked.eased([torch.randn(30, 30), mask, torch.tensor([0.0, -1.0])], generator)
        changed = change([torch.randn(30, 30), mask, torch.tensor([0.0, -1.0])])[1]
        others = changed[(changed != 0) & (changed != far)]
        assert 0 < len(others) < mask.numel() // 4
        assert float(others.abs().max()) < 10


def test_rows_that_are_alike_have_orders_of_their_own() -> None:
    table, groups = torch.tensor([7, 2, 5, 0]).repeat(6, 1), torch.tensor([0, 0, 1, 3])
    (change,) = asked.reordered([table, groups], torch.Generator().manual_seed(1))
    changed, same = made(change, table, groups)
    assert torch.equal(changed.sort(-1).values, table.sort(-1).values)
    assert len(changed.unique(dim=0)) > 1
    assert torch.equal(same, groups)


def test_an_order_that_is_its_own_inverse_becomes_another() -> None:
    inputs = [torch.arange(40).flip(0), torch.arange(40).reshape(-1, 2).flip(1).reshape(-1), torch.arange(40).roll(1)]
    first, second = asked.reordered(inputs, torch.Generator().manual_seed(1))
    for place, change in enumerate((first, second)):
        changed = made(change, *inputs)[place]
        assert torch.equal(changed.sort().values, torch.arange(40))
        assert not torch.equal(changed[changed], torch.arange(40))


def test_groups_are_given_in_no_order_and_ends_of_rows_are_not() -> None:
    rows, groups, ends = torch.randn(6, 2), torch.tensor([0, 0, 1, 1, 3, 9]), torch.tensor([0, 2, 2, 6])
    (change,) = asked.ungrouped([rows, groups, ends], torch.Generator().manual_seed(1))
    _, changed, same = made(change, rows, groups, ends)
    assert not torch.equal(changed, groups)
    assert torch.equal(changed.sort().values, groups)
    assert torch.equal(same, ends)


def test_integers_that_are_zero_are_ones_in_places() -> None:
    types, one, mixed = torch.zeros(4, 8, dtype=torch.int64), torch.zeros(1, dtype=torch.int64), torch.arange(3)
    (change,) = asked.typed([types, one, mixed], torch.Generator().manual_seed(1))
    changed, *same = made(change, types, one, mixed)
    assert set(changed.unique().tolist()) == {0, 1}
    assert all(torch.equal(a, b) for a, b in zip(same, (one, mixed), strict=True))


def test_states_that_begin_as_nothing_hold_numbers_of_either_sign_or_positive_ones() -> None:
    state, one, mixed = torch.zeros(4, 8), torch.zeros(1), torch.tensor([0.0, 1.0])
    positive, either = asked.filled([state, one, mixed], torch.Generator().manual_seed(1))
    for change, least in ((positive, 0.0), (either, -10.0)):
        changed, *same = made(change, state, one, mixed)
        assert least < float(changed.min()) < 0.5 < float(changed.max())
        assert all(torch.equal(a, b) for a, b in zip(same, (one, mixed), strict=True))
    assert float(changed.min()) < 0.0


@pytest.mark.parametrize(("leaf", "changes"), [(torch.eye(3).repeat(4, 1, 1), 2), (torch.eye(2, 3), 2),
                                               (torch.ones(2, 1), 0), (torch.ones(3, 3).tril(), 0)])  # fmt: skip
def test_matrices_that_change_nothing_become_any(leaf: torch.Tensor, changes: int) -> None:
    found = [*asked.filled([torch.randn(4, 3), leaf], torch.Generator().manual_seed(1))]
    assert len(found) == changes
    assert all((made(change, torch.randn(4, 3), leaf)[1] != 0).all() for change in found)


def test_of_a_row_of_bools_the_last_alone_differs() -> None:
    mask, plain = torch.ones(4, 6, dtype=torch.bool), torch.randn(4, 6)
    drawn = draw("late", [plain, mask], torch.Generator())
    assert drawn is not None
    assert torch.equal(drawn[0], plain)
    assert drawn[1].tolist() == [[n == 5 for n in range(6)], [n != 5 for n in range(6)]] * 2
    assert draw("late", [plain], torch.Generator()) is None


def test_numbers_in_float8_are_kept_and_not_computed_with() -> None:
    kept = torch.randn(8).to(torch.float8_e4m3fn)
    generator = torch.Generator().manual_seed(1)
    assert by_an_ulp(kept, generator) is kept
    assert upcast(kept) is kept
    assert not torch.equal(altered(kept).float(), kept.float())


def test_of_an_empty_input_the_golden_is_of_fp64_too() -> None:
    assert upcast(torch.empty(0, 4)).dtype is torch.float64


@pytest.mark.parametrize("shape", [(6, 9), (2, 9, 3)])
def test_scores_are_largest_for_their_targets_by_more_from_row_to_row(shape: tuple[int, ...]) -> None:
    scores, targets = torch.randn(shape), torch.randint(0, 9, (shape[0], *shape[2:]))
    made = sure([scores, targets])
    assert made is not None and made[1] is targets
    top = made[0].topk(2, dim=1)
    assert torch.equal(top.indices.select(1, 0), targets)
    gaps = (top.values.select(1, 0) - top.values.select(1, 1)).flatten()
    assert torch.allclose(gaps, torch.linspace(LEAST, MOST, 6), atol=1e-5)
    assert sure([scores, targets + 9]) is None  # they pick something else
    assert sure([scores, torch.arange(5)]) is None


def test_rows_of_two_inputs_are_sure_of_each_other() -> None:
    one, other = torch.randn(8, 64), torch.randn(8, 64)
    made = sure([one, other])
    assert made is not None and made[1] is other
    own = (made[0] * other).sum(-1)
    assert bool((own[1:] > own[:-1]).all()) and 39.0 < float(own[-1]) < 41.0
    assert sure([one.abs(), other]) is None  # shares are never negative
