"""Inputs at which a reference steps for sure, states after a call, weights and integers of other signs, sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from kdata.verify.beyond.thresholds import thresholds
from kdata.verify.evidence.compare import Tensors, leaves
from kdata.verify.reference import asked, exact, magnitudes
from kdata.verify.reference.conditioned import bears
from kdata.verify.reference.draws import zeroed
from kdata.verify.reference.probe import Meter, Prober
from kdata.verify.reference.reference import MANY_CALLS, Reference
from kdata.verify.reference.sparse import sparse
from kdata.verify.reference.values import doubles, upcast
from kdata.verify.reference.variants import plan
from kdata.verify.reference.weights import after_calls, after_many_calls, redraw

TASK = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
    def forward(self, x):
        self.calls += 1
        return x / self.calls
def get_inputs():
    return [torch.randn(16, 64)]
def get_init_inputs():
    return []
"""


def sure(forward: Callable[[Tensor], Tensor], given: Tensor) -> bool:
    """Whether a function steps for sure on numbers of few digits near these."""

    def golden(inputs: list[Tensor]) -> Tensor:
        with doubles():
            return forward(upcast(inputs[0]))

    return exact.sure([exact.rounded(given)], lambda inputs: forward(inputs[0]), golden) > 0


@pytest.mark.parametrize(
    ("forward", "expected"),
    [
        (torch.round, True),
        (lambda x: torch.round(x * 4) / 4, True),
        (lambda x: torch.where(x > 0.5, x, 2 * x), True),
        (lambda x: torch.floor(x.sum(-1)), True),
        (lambda x: torch.where(x.exp() > 0.3, x, 2 * x), False),  # no step is at a number that was never rounded
        (lambda x: torch.round(x * 0.1 / 0.2), False),  # halves that rounding makes, or does not
        (lambda x: torch.round(x / 3 * 3), False),
        (lambda x: torch.floor_divide(x, 0.5), True),
        (lambda x: torch.floor_divide(x, 0.7), False),  # -3.5 / 0.7 is 5, or a little more
        (lambda x: torch.div(x, 3.0, rounding_mode="trunc"), False),
        (torch.exp, False),  # no step at all
    ],
)
def test_a_reference_steps_for_sure_where_nothing_was_rounded(
    forward: Callable[[Tensor], Tensor], expected: bool
) -> None:  # fmt: skip
    assert sure(forward, torch.randn(8, 64, generator=torch.Generator().manual_seed(0))) is expected


def test_numbers_of_few_digits_hold_halves_and_keep_their_size() -> None:
    given = torch.randn(4096, generator=torch.Generator().manual_seed(0))
    for scale in (1.0, 1e-3, 100.0):
        made = exact.rounded(given * scale)
        assert (made - given * scale).abs().max() <= min(1.0, scale * 4) / 4
        assert torch.equal(made * 2**20, (made * 2**20).round())
    for part in (1, 8, 32):  # of a half
        assert ((exact.rounded(given) * part).frac().abs() == 0.5).any()
    whole = torch.arange(5)
    assert exact.rounded(whole) is whole
    weights = exact.powers(torch.tensor([-0.3, 0.0, 5.0]))
    assert weights.tolist() == [-0.25, 0.0, 4.0]


def test_zeros_stand_in_the_same_places_of_all_inputs() -> None:
    one, other, labels = zeroed([torch.ones(8, 64), torch.ones(8, 64), torch.ones(3).long()], torch.Generator()) or []
    assert 0 < int((one == 0).sum()) < 128
    assert torch.equal(one, other)
    assert labels.all()
    assert zeroed([labels], torch.Generator()) is None


def test_integers_become_negative_where_their_sign_matters() -> None:
    given = [torch.arange(64), torch.tensor([0, 1]), torch.tensor([-1, 2]), torch.ones(2)]
    made = [change(given) for change in asked.negated(given, torch.Generator())]
    assert len(made) == 1  # the second is a mask, the third is negative, the last holds no integers
    assert made[0] is not None
    assert (made[0][0] < 0).any()
    assert (made[0][0] > 0).any()
    assert torch.equal(made[0][0].abs(), given[0])


@pytest.mark.parametrize(
    ("forward", "signed", "places"),
    [
        (lambda x, i: i // 3, True, False),
        (lambda x, i: i % 3, True, False),
        (lambda x, i: i >> 1, True, False),
        (lambda x, i: 1 >> i, True, True),
        (lambda x, i: x[i // 2], True, True),
        (lambda x, i: i * 3 + 1, False, False),
        (lambda x, i: x // 3, False, False),
    ],
)
def test_signs_of_integers_matter_or_they_are_places(
    forward: Callable[[Tensor, Tensor], Tensor], signed: bool, places: bool
) -> None:  # fmt: skip
    with Meter() as meter:
        forward(torch.ones(4), torch.arange(4))
    assert (meter.cost.asks.signed, meter.cost.asks.places) == (signed, places)


def test_a_few_weights_keep_their_signs() -> None:
    state = {"slope": torch.tensor([0.25])}
    grown = [w["slope"].item() for w in magnitudes.grown(state, ["slope"])]
    assert grown == [2500.0, 25.0, 2.5]
    turned = [w["slope"].item() for w in magnitudes.weights(state, ["slope"], torch.Generator())]
    assert turned == [-2500.0, -25.0, -2.5, -0.25, 2.5]
    assert not list(magnitudes.grown({"weight": torch.ones(8)}, ["weight"]))


def test_places_count_from_the_end_whatever_the_size() -> None:
    given = [torch.arange(64), torch.tensor([-1, 2]), torch.ones(2), torch.arange(4, dtype=torch.uint8)]
    (change,) = asked.wrapped(given, torch.Generator())  # some count so already, and others cannot
    made = change(given)
    assert made is not None
    assert int(made[0].min()) == -64
    table = torch.rand(64)
    assert torch.equal(table[made[0]], torch.where(made[0] < 0, table.flip(0), table))


def test_whole_rows_and_columns_of_integers_are_below_zero() -> None:
    made = next(asked.negated([torch.full((9, 9), 5)], torch.Generator()))([torch.full((9, 9), 5)])
    assert made is not None
    assert (made[0].amax(0) < 0).any()
    assert (made[0].amax(1) < 0).any()


def test_some_batches_were_seen() -> None:
    seen = set()
    for seed in range(8):
        norm = nn.BatchNorm1d(2)
        redraw(norm, torch.Generator().manual_seed(seed))
        seen.add(int(norm.num_batches_tracked))  # type: ignore[arg-type]  # it tracks them
    assert len(seen) > 2


def test_later_trials_start_from_the_state_after_a_call() -> None:
    payload = {"source": TASK, "entry_point": "Model", "variants": 1, "seeds": [1, 2, 3], "level": "screen", "whole": 0,
               "precision": "ieee"}  # fmt: skip
    reference = Reference(payload)
    variant = plan(reference.prober, 1)[0]
    trials = [reference._trial(0, variant, seed, "natural") for seed in (1, 2, 3)]
    given = Tensors(reference.given.manifest, bytes(reference.given.blob))
    states = [dict(leaves(t["given"]["state"])) for t in trials if t is not None]
    values = [given.array(node["tensor"]) for state in states for node in state.values()]
    assert [v.item() for v in values] == [0.0, 1.0, MANY_CALLS]


def test_what_a_call_does_that_none_before_it_did_is_the_next() -> None:
    """Each third call takes a copy of the weight, and the place in a ring of five begins again."""

    def call(copies: bool, state: dict[str, Any]) -> nn.Module:
        module = nn.Module()
        calls, at = state["calls"] + 1, (state["at"] + 1) % 5
        for name, value in (
            ("calls", calls),
            ("at", at),
            ("copy", calls if copies and not calls % 3 else state["copy"]),
        ):
            module.register_buffer(name, value)
        return module

    begun = {name: torch.tensor(0) for name in ("calls", "at", "copy")}
    for copies, count, before in ((True, 100, 2), (False, 100, 4), (False, 3, 3)):
        assert int(after_many_calls(count, nn.Module(), begun, partial(call, copies))["calls"]) == before


@pytest.mark.parametrize(("module", "called"), [(nn.Linear(2, 2), 0), (nn.BatchNorm1d(2), 1)])
def test_what_is_all_trained_is_not_called_before(module: nn.Module, called: int) -> None:
    calls: list[nn.Module] = []
    after_calls(1, module, dict(module.state_dict()), lambda _: calls.append(module) or module)  # type: ignore[func-returns-value]
    assert len(calls) == called


def test_trust_asks_for_few_elements() -> None:
    source = TASK.replace("self.calls += 1", "")
    few = [v for v in plan(Prober(source, "Model"), 3, thorough=True) if v.kind == "few"]
    assert [v.run.shapes for v in few] == [((2, 2),)]
    assert all(v.kind != "few" for v in plan(Prober(source, "Model"), 3))


def test_trust_asks_for_multiples_of_blocks_beside_odd_sizes() -> None:
    source = TASK.replace("self.calls += 1", "")
    kinds = ("uneven", "tails")
    uneven = [v.run.shapes[0] for v in plan(Prober(source, "Model"), 3, thorough=True) if v.kind in kinds]
    *multiples, tail = uneven
    assert [(rows % 64 == 0, columns % 64 == 0) for rows, columns in multiples] == [(True, False), (False, True)]
    assert math.prod(tail) == 2049
    assert all(size % 64 == 0 or size % 2 == 1 for shape in uneven for size in shape)
    alone = source.replace("torch.randn(16, 64)", "torch.randn(64)")
    found = [v.run.shapes[0] for v in plan(Prober(alone, "Model"), 3, thorough=True) if v.kind in kinds]
    assert found == [(2049,)]


def test_trust_asks_for_sides_that_differ_by_one() -> None:
    source = TASK.replace("self.calls += 1", "")
    found = [v.run.shapes for v in plan(Prober(source, "Model"), 3, thorough=True) if v.kind == "next"]
    assert found == [((5, 6),)]
    alone = source.replace("torch.randn(16, 64)", "torch.randn(64)")
    assert all(v.kind != "next" for v in plan(Prober(alone, "Model"), 3, thorough=True))


def test_nearly_empty_matrices_are_so_of_one_factor_at_a_time() -> None:
    given = [torch.randn(130, 16), torch.randn(16, 40), torch.rand(16, 16)]  # the last one has no negative numbers
    for style, place, nonzero in (("sparse", 0, 3), ("thin", 1, 3), ("spiked", 0, 1), ("dotted", 1, 1)):
        drawn = sparse(style, given, torch.Generator().manual_seed(1))
        assert drawn is not None
        assert [a is b for a, b in zip(drawn, given, strict=True)] == [n != place for n in range(3)]
        rows = drawn[place][drawn[place].ne(0).any(1)]
        assert 0 < len(rows) <= 3
        assert rows.ne(0).sum(1).tolist() == [nonzero] * len(rows)
        assert nonzero == 1 or rows.sum(1).abs().max() < 1e-6
    assert sparse("thin", given[:1], torch.Generator()) is None


def test_large_integers_differ_in_their_last_places_or_beyond_32_bits_only() -> None:
    near, beyond, small = (torch.randint(0, most, (64,)) for most in (1 << 31, 1 << 40, 1000))
    found: list[Any] = [near, beyond, small]
    for change in asked.adjacent(found, torch.Generator()):
        found = change(found) or found
    assert int(found[0].max() - found[0].min()) < 8 and int(found[0].max()) == int(near.max())
    assert set((found[1] & 0xFFFFFFFF).tolist()) <= set(range(5)) and int(found[1].max()) >= 1 << 33
    assert found[2] is small


def test_half_precision_is_judged_far_off_where_it_moves_by_two_per_cent_at_most() -> None:
    far = [2000 + 100 * torch.rand(8, 96).half()]
    for less, borne in ((0.0, True), (2050.0, False)):
        mean, golden = (
            (lambda given, n=less: given[0].mean(1) - n),
            (lambda given, n=less: given[0].double().mean(1) - n),
        )
        for style in ("above", "huge"):
            assert bears(style, far, mean, golden, torch.Generator().manual_seed(1)) is borne


ROTATED = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, half):
        super().__init__()
        self.register_buffer("table", torch.linspace(0.1, 1.0, half))

    def forward(self, x):
        left, right = x.chunk(2, -1)
        return left * self.table - right * self.table


def get_inputs():
    return [torch.randn(128, 128, 128)]


def get_init_inputs():
    return [64]
"""


def test_small_sizes_are_none_at_which_something_broadcasts_by_accident() -> None:
    base, *_ = plan(Prober(ROTATED, "Model"), 1)
    rows, columns, width = base.run.shapes[0]
    assert width > 2  # a half of one would be spread over the table
    assert rows * columns * width <= 20_000


def test_buffers_of_ones_and_zeros_are_drawn_and_others_stay() -> None:
    module = nn.Linear(2, 2)
    kept = {"mask": torch.tensor([0.0, 1.0]), "blur": torch.full((3,), 1 / 3), "scale": torch.ones(()),
            "places": torch.zeros(3, dtype=torch.long)}  # fmt: skip
    for name, value in (kept | {"weights": torch.ones(5), "shift": torch.zeros(5)}).items():
        module.register_buffer(name, value.clone())
    module.register_parameter("frozen", nn.Parameter(torch.ones(4), requires_grad=False))
    module.register_buffer("passing", torch.ones(4), persistent=False)
    redraw(module, torch.Generator().manual_seed(1))
    assert all(torch.equal(module.get_buffer(name), value) for name, value in kept.items())
    assert torch.equal(module.get_buffer("passing"), torch.ones(4))
    assert all(len(t.unique()) == t.numel() for t in (module.weights, module.shift, module.frozen))


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("b = {64: 64, 2048: 2048}.get(n, 1024)", (1024, 2048)),
        ("b = SIZES.get(n, 600)", (600, 4096)),
        ("b = SIZES[n // 7]", (4096,)),
        ("b = SIZES[0]", ()),
        ("match n:\n        case 700: b = 1", (700,)),
    ],
)
def test_sizes_beyond_what_stands_in_a_table_are_tried(said: str, found: tuple[int, ...]) -> None:
    assert thresholds(f"SIZES = {{64: 64, 4096: 4096}}\ndef f(n):\n    {said}\n") == found


def test_what_is_divided_by_a_share_of_its_largest_is_once_whole_and_halves() -> None:
    def quantised(x: Tensor) -> Tensor:
        return torch.round(x / (x.abs().amax(-1, keepdim=True) / 127.0))

    given = torch.randn(6, 40, generator=torch.Generator().manual_seed(0))
    with Meter() as meter:
        quantised(given)
    assert meter.cost.asks.divisors == {127}
    assert not sure(quantised, given)
    few, crowned = exact.drawn([given], meter.cost.names - {"div"}, meter.cost.asks.divisors)
    assert float(few[0].abs().max()) < 127.0 == float(crowned[0].abs().max())
    assert bool((crowned[0] % 1 == 0.5).any())
    assert sure(quantised, crowned[0])
    assert not sure(lambda x: torch.round(x / (x.abs().amax() / 126.0)), crowned[0])  # its quotient is rounded
