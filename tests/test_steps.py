"""Answers at a step, where a rounding decides, and answers to small inputs: what is an error, and what is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from kdata.verify.evidence.compare import Nature, UnequalError, errors
from kdata.verify.gpu.errors import Measure, near, unequal
from kdata.verify.reference.probe import Meter
from kdata.verify.reference.ties import ByPlace, Ties, either_place
from kdata.verify.reference.values import shifts, span


def quotients() -> tuple[list[torch.Tensor], torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """Inputs, the floors of their quotients, and the ends of these: at one of 40,000 a rounding decides (seed 22)."""
    generator = torch.Generator().manual_seed(22)
    given = [100 * torch.randn(40000, generator=generator), torch.rand(40000, generator=generator) + 0.5]
    low, high = span([floors(m)] for m in (given, *shifts(given)))
    return given, floors(given), (low[0], high[0])


def floors(given: list[torch.Tensor]) -> torch.Tensor:
    return torch.floor(given[0] / given[1])


@pytest.mark.parametrize(
    ("spoil", "right"),
    [(lambda x, y: torch.floor(x * (1 / y)), True), (lambda x, y: torch.floor(x / y + 1e-3), False),
     (lambda x, y: torch.floor(x / y) + (torch.arange(40000) == 77), False)],
)  # fmt: skip
def test_a_rounding_at_a_step_is_no_error_and_a_step_elsewhere_is_one(
    spoil: Callable[..., Tensor], right: bool
) -> None:
    given, eager, ends = quotients()
    answer = spoil(*given)
    measure = Measure(eager, torch.floor(given[0].double() / given[1].double()), None, 1, False)
    measure.prepare()
    assert measure.errors(answer)["excess"] > 1
    assert (measure.errors(answer, ends)["excess"] <= 1) == right
    assert (near(answer, eager, measure.limits, ends) <= 1) == right
    whole = [v.long() for v in (answer, eager, *ends)]
    assert (unequal(whole[0], whole[1], (whole[2], whole[3])) == 0) == right
    golden, sizes = measure.golden, Nature(1, False)
    assert golden is not None
    one, two, three, low, high = (v.double().numpy() for v in (answer, eager, golden, *ends))
    assert errors("output", one, two, three, [], "float32", sizes, (low, high)).passed == right


@pytest.mark.parametrize(("spoil", "rough"), [(torch.expm1, False), (lambda x: torch.exp(x) - 1, True)])
def test_an_ulp_of_one_is_told_of_where_inputs_are_small(spoil: Callable[[Tensor], Tensor], rough: bool) -> None:
    small = 1e-4 * torch.randn(5000, generator=torch.Generator().manual_seed(0))
    eager, golden = torch.expm1(small), torch.expm1(small.double())
    one, two, three = (v.double().numpy() for v in (spoil(small), eager, golden))
    found = errors("output", one, two, three, [], "float32", Nature(1, False, ones=True))
    assert (found.passed, found.rough) == (True, rough)
    assert errors("output", one, two, three, [], "float32", Nature(1, False)).passed != rough
    assert not errors("output", 1.05 * one, two, three, [], "float32", Nature(1, False, ones=True)).passed


@pytest.mark.parametrize(("place", "right"), [(7, True), (9, False)])
def test_what_a_threshold_leaves_out_may_be_one_element_more(place: int, right: bool) -> None:
    eager = torch.arange(100.0)
    eager[:7] = -torch.inf
    low, answer = eager.clone(), eager.clone()
    low[7], answer[place] = -torch.inf, -torch.inf
    one, two, below = (v.double().numpy() for v in (answer, eager, low))
    measure = Measure(eager, None, None, 1, False)
    measure.prepare()
    assert ("fault" not in measure.errors(answer, (low, eager))) == right
    try:
        passed = errors("output", one, two, None, [], "float32", Nature(1, False), (below, two)).passed
    except UnequalError:
        passed = False
    assert passed == right


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_bits_that_are_cut_off_are_no_rounding(dtype: torch.dtype) -> None:
    golden = torch.randn(1000, generator=torch.Generator().manual_seed(0)).double()
    digits = {torch.bfloat16: 7, torch.float16: 10}[dtype]
    ulp = torch.exp2(golden.abs().log2().floor() - digits)
    rounded, cut = golden.to(dtype), ((golden / ulp).trunc() * ulp).to(dtype)
    one, two, three = (v.double().numpy() for v in (cut, rounded, golden))
    name, nature = str(dtype)[6:], Nature(1, False)
    assert errors("output", two, two, three, [], name, nature).passed
    with pytest.raises(UnequalError, match="cut off"):
        errors("output", one, two, three, [], name, nature)
    assert errors("output", one, one, three, [], name, nature).passed  # the reference does so, too


@pytest.mark.parametrize(
    ("forward", "jumps"),
    [(torch.floor, True), (lambda x: torch.div(x, 3, rounding_mode="floor"), True), (lambda x: x.to(torch.int32), True),
     (lambda x: torch.where(x > 1, x, 0), True), (lambda x: x % 2, True), (torch.relu, False), (torch.softmax, False),
     (lambda x: x.to(torch.float64) / 3, False)],
)  # fmt: skip
def test_steps_are_seen_in_what_a_task_calls(forward: Callable[..., Tensor], jumps: bool) -> None:
    with Meter() as meter:
        forward(torch.randn(4, 5), *((-1,) if forward is torch.softmax else ()))
    assert meter.cost.jumps == jumps


def test_inputs_are_moved_together_and_against_each_other() -> None:
    moved = [[bool(m[n] > 1) for n in (0, 2)] for m in shifts([torch.ones(()), 3, torch.ones(())])]
    assert sorted(moved) == [[False, False], [False, True], [True, False], [True, True]]
    assert len(list(shifts([torch.ones(()), torch.ones(2, dtype=torch.int64)]))) == 2
    rows = torch.tensor([[1.0, 2.0], [4.0, 3.0]])
    ways = {tuple((m[0] > rows).flatten().tolist()) for m in shifts([rows])}
    up, rows_largest, columns_largest = (True,) * 4, (True, False, False, True), (True, True, False, False)
    assert ways == {way for one in (up, rows_largest, columns_largest) for way in (one, tuple(not w for w in one))}


def test_what_is_divided_by_the_largest_steps_where_another_quotient_may() -> None:
    """A product with the inverse is what kernels compute, and a last digit from the quotient."""

    def quantised(x: Tensor) -> Tensor:
        return torch.round(x / (x.abs().amax(-1, keepdim=True) / 127.0))

    given = torch.randn(24, 1 << 17, generator=torch.Generator().manual_seed(0))
    low, high = span([[quantised(m)] for (m,) in ([given], *shifts([given]))])
    other = torch.round(given * (127.0 / given.abs().amax(-1, keepdim=True)))
    assert bool((other != quantised(given)).any())
    assert bool(((other >= low[0]) & (other <= high[0])).all())
    assert int((low[0] != high[0]).sum()) < 1000
    assert list(shifts([1, torch.arange(3)])) == []


@pytest.mark.parametrize(
    ("row", "dim", "largest", "tied"),
    [([3.0, 1.0, 2.0, 0.0], 1, True, False), ([1.0, 0.0, 0.0, 0.0], 1, True, True), ([3.0, 3.0, 2.0, 0.0], 1, True, True),
     ([0.0, 0.0, 2.0, 3.0], 1, True, False), ([3.0, 2.0, 2.0005, 0.0], 1, True, True), ([0.0, 5.0, 5.0, 7.0], 1, False, True), ([3.0, 1.0, 2.0, 0.0], 0, True, True)],
)  # fmt: skip
def test_where_equal_elements_are_chosen_among_other_indices_would_do(
    row: list[float], dim: int, largest: bool, tied: bool
) -> None:
    with Ties() as ties:
        torch.topk(torch.tensor([row, row]), 2, dim, largest)
    assert ties.seen == tied


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(("gap", "close"), [(0.0, False), (1e-6, True), (1e-3, False)])
def test_where_rounding_decides_which_extreme_comes_first_either_would_do(
    largest: bool, gap: float, close: bool
) -> None:
    rows = torch.tensor([[1.0 + gap, 1.0, 0.5 if largest else 2.0]] * 2)
    for name in ("argmax", "max") if largest else ("argmin", "min"):
        with Ties() as ties:
            getattr(torch, name)(rows, 1)
        assert ties.close == close


@pytest.mark.parametrize(("backwards", "chosen"), [(False, [1, 2]), (True, [4, 2])])
def test_of_equal_ones_the_first_or_the_last_is_chosen(backwards: bool, chosen: list[int]) -> None:
    """Whatever torch names: a kernel that goes through a row in another order names another."""
    with ByPlace(backwards):
        values, indices = torch.tensor([0.0, 3.0, 3.0, 1.0, 3.0]).topk(2)
        least = torch.tensor([[2.0, 5.0], [2.0, 4.0]]).topk(1, 0, largest=False).indices
    assert values.tolist() == [3.0, 3.0] and indices.tolist() == chosen and least.tolist() == [[int(backwards), 1]]


@pytest.mark.parametrize(("count", "equal"), [(2, 3), (3, 3), (2, 4)])
def test_of_several_equal_ones_any_may_come_in_any_place(count: int, equal: int) -> None:
    """Of three the second of two may be each, and who asks for a view of places must get one."""
    row = torch.tensor([0.0, *[3.0] * equal, 1.0])
    answers = either_place(lambda: [torch.stack([row, row]).topk(count).indices.view(-1)], {"topk"})
    found = torch.stack([leaves[0][:count] for leaves in answers])
    assert all({*places} == {*range(1, equal + 1)} for places in found.T.tolist())
    assert all(len({*order}) == count for order in found.tolist())


@pytest.mark.parametrize("dim", [0, 1])
def test_only_equal_ones_change_places(dim: int) -> None:
    rows = torch.randint(0, 4, (6, 6), generator=torch.Generator().manual_seed(0)).float()
    with ByPlace(turned=1):
        values, indices = rows.topk(5, dim)
    assert torch.equal(values, rows.topk(5, dim).values)
    assert torch.equal(rows.gather(dim, indices), values)
