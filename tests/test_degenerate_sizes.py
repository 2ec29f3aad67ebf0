"""Sizes at which a reference runs by accident, or answers with nothing: none of them is tried."""

from __future__ import annotations

import pytest

from kdata.verify.reference.larger import Larger
from kdata.verify.reference.probe import Prober
from kdata.verify.reference.styles import SINGLE
from kdata.verify.reference.variants import Variant, plan

HALVED = """import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, table):
        half = x.shape[-1] // 2
        return x * table + torch.cat((-x[..., half:], x[..., :half]), -1) * table


def get_inputs():
    width = 8
    table = torch.rand(4, -(-width // 2))
    return [torch.randn(3, 4, width), torch.cat((table, table), -1)]


def get_init_inputs():
    return []
"""
CAUSAL = """import torch
from torch import nn


class Model(nn.Module):
    def forward(self, scores):
        queries, keys = scores.shape[-2:]
        kept = torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)
        return scores.masked_fill(~kept, float("-inf")).softmax(-1)


def get_inputs():
    return [torch.randn(8, 20, 36)]


def get_init_inputs():
    return []
"""

CLASSES = """import torch
from torch import nn


class Model(nn.Module):
    def forward(self, scores, labels):
        return nn.functional.cross_entropy(scores, labels)


def get_inputs():
    return [torch.randn(14, 30), torch.randint(0, 30, (14,))]


def get_init_inputs():
    return []
"""

DEVIATION = """import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x + x.std(dim={dim}, keepdim=True)


def get_inputs():
    return [torch.randn(16, 12, 8)]


def get_init_inputs():
    return []
"""


@pytest.mark.parametrize(("dim", "more"), [(-1, 0), (0, 1)])
def test_one_element_is_tried_though_it_has_no_deviation(dim: int, more: int) -> None:
    single = [v.run for v in plan(Prober(DEVIATION.format(dim=dim), "Model"), 4, thorough=True) if v.kind == SINGLE]
    assert [run.shapes[0][dim] for run in single][:1] == [1]
    assert single[0].undefined
    assert len(single) == 1 + more  # the last dimension, whatever is answered there


def test_a_sum_that_cancels_is_not_tried_as_one_element() -> None:
    assert not [v for v in plan(Prober(CLASSES, "Model"), 4, thorough=True) if v.kind == SINGLE]


def test_half_of_one_is_none_to_spread_though_its_slices_take_all() -> None:
    prober = Prober(HALVED, "Model")
    base, one, two = (prober.forward({"get_inputs[0]": width}) for width in (8, 1, 2))
    assert base is not None
    assert one is not None
    assert two is not None
    assert base.degenerates(one)
    assert not base.degenerates(two)


def test_no_sizes_are_tried_at_which_the_answer_is_no_number() -> None:
    prober = Prober(CAUSAL, "Model")
    base, fewer_keys = (prober.forward({"get_inputs[2]": keys}) for keys in (36, 18))
    assert base is not None
    assert fewer_keys is not None
    assert base.degenerates(fewer_keys)
    assert not base.degenerates(base)


SCATTERED = """import torch
from torch import nn


class Model(nn.Module):
    def forward(self, values, places):
        return torch.zeros(9).scatter_add(0, places, values)


def get_inputs():
    return [torch.randn(32), torch.randint(0, 9, (32,))]


def get_init_inputs():
    return []
"""


def test_there_are_as_many_places_as_values_that_go_there() -> None:
    prober = Prober(SCATTERED, "Model")
    base, fewer_places, both = (
        prober.forward({"get_inputs[0]": values, "get_inputs[2]": places})
        for values, places in ((32, 32), (64, 32), (64, 64))
    )
    assert base is not None
    assert fewer_places is not None
    assert both is not None
    assert base.degenerates(fewer_places)
    assert not base.degenerates(both)


GROUPED = """import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, weights, ends):
        group = torch.bucketize(torch.arange(len(x)), ends, right=True).clamp(max=len(weights) - 1)
        return (x[:, None, :] @ weights[group])[:, 0]


def get_inputs():
    return [torch.randn(20, 8), torch.randn(3, 8, 5), torch.tensor([6, 6, 20])]


def get_init_inputs():
    return []
"""


def test_there_are_as_many_matrices_as_groups_of_rows() -> None:
    prober = Prober(GROUPED, "Model")
    base, more = (prober.forward({"get_inputs[2]": count}) for count in (3, 7))
    assert base is not None
    assert more is not None
    assert base.degenerates(more)


def test_no_sizes_are_tried_at_which_the_answer_is_zero_throughout() -> None:
    prober = Prober(CLASSES, "Model")
    base, one = (prober.forward({"get_inputs[1]": classes, "get_inputs[2]": classes}) for classes in (30, 1))
    assert base is not None
    assert one is not None
    assert base.degenerates(one)
    assert not one.degenerates(base)


def test_one_class_is_no_larger_size_either() -> None:
    payload = {"source": CLASSES, "entry_point": "Model", "variants": 1, "seeds": [1], "level": "screen", "whole": 0,
               "precision": "ieee", "mode": "eval", "base": {}, "grows": {"get_inputs[0]": 14, "get_inputs[1]": 30},
               "numbers": [], "most": 1 << 20, "ends": [], "counts": [], "equal": [], "multiples": [], "asked": [],
               "evaluates": False}  # fmt: skip
    larger = Larger(payload)
    for classes, fits in ((1, False), (2, True)):
        values = {"get_inputs[0]": 300, "get_inputs[3]": 300, "get_inputs[1]": classes, "get_inputs[2]": classes}
        run = larger.prober.forward(values, real=False)
        assert run is not None
        assert larger._fits(Variant("beyond", values, run)) is fits


GATED = """import torch
from torch import nn


class Model(nn.Module):
    def forward(self, gates, cell):
        kept, added = gates.chunk(2, -1)
        return torch.sigmoid(kept) * cell + torch.tanh(added)


def get_inputs():
    return [torch.randn(4096, 8192), torch.randn(4096, 4096)]


def get_init_inputs():
    return []
"""


def test_what_is_too_large_to_run_is_not_scaled_down_to_what_broadcasts() -> None:
    """Two gates of one column each would spread over a cell of any width."""
    gates, cell = plan(Prober(GATED, "Model"), 4)[0].run.shapes
    assert gates == (cell[0], 2 * cell[1])
