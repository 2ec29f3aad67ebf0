"""Which sizes of a task vary, and which as multiples of others."""

from __future__ import annotations

import pytest

from kdata.task import sizes
from kdata.verify.reference.axes import apart
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
