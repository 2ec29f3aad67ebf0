"""Which sizes of a task vary, and which as multiples of others."""

from __future__ import annotations

import pytest

from kdata.task import sizes
from kdata.verify.beyond.aside import _fewer
from kdata.verify.reference.extents import apart, asked_apart
from kdata.verify.reference.probe import Prober
from kdata.verify.reference.slack import on_purpose
from kdata.verify.reference.variants import plan

FORWARD = "class Model:\n    def forward(self, q, k, v):\n        {}\n        return q\n"


@pytest.mark.parametrize(("text", "dims"), [
    ("L, S = q.shape[1], k.size(1); mask = ones(L, S).tril(S - L)", {1}),
    ("k = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)", {1}),
    ("b, h, n, d = q.shape; g = h // k.shape[-3]", {1, -3}),
    ("b, h, n, d = q.shape; half = d // 2 - n", set()),
    ("L, S = q.shape[1], k.shape[1]; scale = q.shape[-1] ** -0.5; mask = ones(L, S)", set()),
])  # fmt: skip
def test_what_subtracts_and_divides_sizes_of_two_tensors_means_them_to_differ(text: str, dims: set[int]) -> None:
    assert apart(FORWARD.format(text)) == dims


GROUPED = """
import torch

class Model(torch.nn.Module):
    def forward(self, q, k):
        return (q * k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)).sum(-1)

def get_inputs():
    return [torch.randn(2, 4, 15, 16), torch.randn(2, 4, 15, 16)]

def get_init_inputs():
    return []
"""


def test_heads_of_queries_are_once_several_times_those_of_keys() -> None:
    shapes = [variant.run.shapes for variant in plan(Prober(GROUPED, "Model"), 4, thorough=True)]
    assert any(q[1] > k[1] > 1 for q, k in shapes)


SCANNED = """
import torch

class Model(torch.nn.Module):
    def forward(self, a, b):
        {before}h, out = torch.zeros_like(b[:, 0]), []
        for t in range(b.shape[1]):
            h = a[:, t, :1] * h + b[:, t]
            out.append(h)
        return torch.stack(out, dim=1)

def get_inputs():
    return [torch.randn(2, 12, 4), torch.randn(2, 12, 5)]

def get_init_inputs():
    return []
"""


def test_steps_that_nobody_reads_are_as_many_as_those_that_are_unless_they_are_cut_off() -> None:
    source = SCANNED.format(before="")
    both = ("get_inputs[1]", "get_inputs[4]")
    assert on_purpose(Prober(source, "Model"), {}, sizes(source)) == dict.fromkeys(both, both)
    cut = SCANNED.format(before="a = a[:, : b.shape[1]]\n        ")
    assert on_purpose(Prober(cut, "Model"), {}, sizes(cut)) == {}
    added = SCANNED.format(before="b = b + a.sum(1, keepdim=True)[..., :1]\n        ")  # of all steps
    assert on_purpose(Prober(added, "Model"), {}, sizes(added)) == {}


CAUSAL = """
import torch

class Model(torch.nn.Module):
    def forward(self, q, k, v):
        return (q @ k.mT).{masked} @ v

def get_inputs():
    return [torch.randn(2, 12, 4), torch.randn(2, 12, 4), torch.randn(2, 12, 4)]

def get_init_inputs():
    return []
"""


def test_keys_beyond_all_queries_are_as_many_unless_they_are_counted_from_the_last() -> None:
    first, last = (CAUSAL.format(masked=f"tril({by})") for by in ("", "k.shape[1] - q.shape[1]"))
    all_three = tuple(f"get_inputs[{n}]" for n in (1, 4, 7))
    found = on_purpose(Prober(first, "Model"), {}, sizes(first))
    assert {name: found.get(name) for name in all_three} == dict.fromkeys(all_three, all_three)
    assert all_three not in on_purpose(Prober(last, "Model"), {}, sizes(last)).values()


ORDERED = """
import torch

class Model(torch.nn.Module):
    def forward(self, x, y):
        return x[{index}]

def get_inputs():
    return [torch.randn(12, 4), torch.rand(12)]

def get_init_inputs():
    return []
"""


def test_rows_that_are_put_in_an_order_are_as_many_as_it_and_those_of_a_table_are_not() -> None:
    both = ("get_inputs[0]", "get_inputs[2]")
    for index, found in (("y.argsort()", dict.fromkeys(both, both)), ("(y * 12).long()", {})):
        source = ORDERED.format(index=index)
        assert on_purpose(Prober(source, "Model"), {}, sizes(source)) == found


TASK = """
import torch

class Model(torch.nn.Module):
    def __init__(self, *taps):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(*taps) if taps else torch.ones(1))

    def forward(self, {names}):
        {forward}

def get_inputs():
    return [{inputs}]

def get_init_inputs():
    return [{arguments}]
"""


def shapes(names: str, forward: str, inputs: str, arguments: str = "") -> list[tuple[tuple[int, ...], ...]]:
    source = TASK.format(names=names, forward=forward, inputs=inputs, arguments=arguments)
    return [variant.run.shapes for variant in plan(Prober(source, "Model"), 4, thorough=True)]


def test_queries_and_keys_that_are_turned_are_of_one_batch_and_pairs_of_matrices_need_not_be() -> None:
    turned = shapes("q, k", "return 2 * q, 2 * k", "torch.randn(2, 4, 6, 8), torch.randn(2, 3, 6, 8)")
    assert all(q[0] == k[0] for q, k in turned)
    pairs = shapes("q, k", "return 2 * q, 2 * k", "torch.randn(2, 8), torch.randn(2, 8)")
    assert any(q[0] != k[0] for q, k in pairs)


def test_what_a_filter_saw_last_is_as_long_as_its_taps_less_one() -> None:
    filtered = "return torch.cat([s, x], -1).unfold(-1, self.weight.shape[-1], 1).mul(self.weight[:, None]).sum(-1)"
    given = "torch.randn(2, 6, 15), torch.randn(2, 6, 3)"
    assert {s[-1] for _, s in shapes("x, s", filtered, given, "6, 4")} == {3}
    assert {s[-1] for _, s in shapes("x, s", "return torch.cat([s, x], -1) * 2", given)} != {3}


def test_a_transposed_convolution_sums_over_what_its_weights_begin_with() -> None:
    source = TASK.format(names="x", forward="return torch.conv_transpose1d(x, self.weight)",
                         inputs="torch.randn(2, 16, 9)", arguments="16, 3, 5")  # fmt: skip
    run = Prober(source, "Model").forward({})
    assert run is not None
    assert run.cost.terms == 16 * 5


def test_a_loop_over_very_many_parts_is_not_run_without_memory() -> None:
    source = TASK.format(names="x", forward="return torch.cat([2 * part for part in x.split(4, 1)], 1)",
                         inputs="torch.randn(2, 12)", arguments="")  # fmt: skip
    prober = Prober(source, "Model")
    assert prober.forward({}) is not None
    assert prober.forward({"get_inputs[1]": 1 << 20}, real=False) is None


@pytest.mark.parametrize(("a", "b"), [(2, 2), (3, 1 << 20), (61, 40), (1 << 20, 1 << 20)])
def test_few_of_all_smaller_sizes_are_searched(a: int, b: int) -> None:
    found = _fewer(a, b)
    assert (2, 2) in found
    assert len(found) == len(set(found)) < 150  # however many there are
    assert all(m <= a and n <= b for m, n in found)
    assert b < 9 or len({n for m, n in found if m > 8}) != 1


UNDEFINED = """
import torch

class Model(torch.nn.Module):
    def __init__(self, width, rates):
        super().__init__()
        if width < 8 * rates:
            raise ValueError("too few columns for so many rates")
        at = torch.arange(rates // 4) / (rates // 4 - 1)
        self.register_buffer("steps", 10000**-at)

    def forward(self, x):
        return x * self.steps.sum()

width = 4096
rates = 512
rows = 2048

def get_inputs():
    return [torch.randn(rows, width)]

def get_init_inputs():
    return [width, rates]
"""


def test_sizes_scaled_down_one_by_one_leave_an_answer() -> None:
    """Four rates would be the least that runs: 0 / (4 // 4 - 1) is no number."""
    base = plan(Prober(UNDEFINED, "Model"), 4, thorough=False)[0]
    assert base.values == {"rows": 4, "rates": 8} and not base.run.void


@pytest.mark.parametrize(("text", "dims"), [
    ("b, h, n, d = q.shape; s = k.shape[2]; go(n, s)", {2}),
    ("n, s = q.shape[1], k.size(1); go(n, s)", {1}),
    ("b, n, d = q.shape; _, s, _ = k.size(); go(n, s)", {1, -2}),
    ("n, s = q.shape[1], k.shape[1]; assert n == s; go(n)", set()),
    ("b, n, d = q.shape; go(n, k.stride(0))", set()),
    ("b, h, n, d = q.shape; o, i = w.shape; go(b, h, n, d, o, i)", set()),  # a matrix of weights
    ("b, n, d = q.shape; o = self.w.shape[1]; go(b, n, d, o)", set()),
])  # fmt: skip
def test_who_asks_two_tensors_for_their_sizes_takes_them_to_differ(text: str, dims: set[int]) -> None:
    assert asked_apart(FORWARD.format(text)) == dims


ATTENTION = """
import torch

class Model(torch.nn.Module):
    def forward(self, q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

def get_inputs():
    return [torch.randn(2, 2, 24, 16), torch.randn(2, 2, 24, 16), torch.randn(2, 2, 24, 16)]

def get_init_inputs():
    return []
"""


@pytest.mark.parametrize(("unlike", "differ"), [((), False), ((2,), True)])
def test_keys_are_more_than_queries_for_who_tells_them_apart(unlike: tuple[int, ...], differ: bool) -> None:
    shapes = [variant.run.shapes for variant in plan(Prober(ATTENTION, "Model", unlike), 4, thorough=True)]
    assert any(q[2] != k[2] == v[2] for q, k, v in shapes) == differ
