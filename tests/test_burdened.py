"""An input whose outer lines are very large, where not all of an answer follows from them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from kdata.verify.reference.burdened import SHARE, TIMES, burdened
from kdata.verify.reference.magnitudes import Measures
from kdata.verify.reference.unusual import Unusual
from kdata.verify.reference.variants import plan

TASK = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.avg_pool1d(x, 4)
def get_inputs():
    return [torch.randn(2, 32)]
def get_init_inputs():
    return []
"""


def measured(function: Callable[[Tensor], Tensor]) -> Measures:
    """Measures of a function of one tensor."""
    return Measures(
        lambda inputs: function(inputs[0]),
        lambda inputs: function(inputs[0].double()),
        lambda inputs: function(inputs[0] * (1 + 1e-7)),
    )


@pytest.mark.parametrize(
    ("function", "dim"),
    [
        (lambda x: nn.functional.avg_pool1d(x, 3, stride=1), 2),
        (lambda x: x.unfold(1, 4, 4).sum(-1), 1),
        (lambda x: nn.functional.avg_pool1d(x, 3, stride=1, padding=1), 2),
        (lambda x: x.flip(1), None),  # each line is another one
        (lambda x: torch.relu(x), None),
        (lambda x: torch.cumsum(x, 2), None),  # all follow from the first
        (lambda x: torch.cumsum(x.flip(2), 2).flip(2), None),  # or from the last
        (lambda x: x.sum((1, 2)), None),
        (lambda x: x.flatten().unfold(0, 2, 2).sum(-1), 0),
        (lambda x: x.view(8, 16, 32 if float(x.max()) < TIMES / 10 else 31), None),  # it refuses what is large
        (lambda x: torch.zeros_like(x), None),
    ],
)
def test_lines_are_large_where_windows_hold_some_of_them(function: Callable[[Tensor], Tensor], dim: int | None) -> None:
    x = torch.randn(8, 16, 32)
    found = burdened([x], measured(function), ["sum"])
    assert (found.dim if found else None) == dim
    if found and dim:
        (changed,) = found.inputs
        first = x.shape[dim] // SHARE
        last = x.shape[dim] - first
        for start in (0, last):
            assert torch.equal(changed.narrow(dim, start, first), x.narrow(dim, start, first) * TIMES)
        assert torch.equal(changed.narrow(dim, first, last - first), x.narrow(dim, first, last - first))


def test_labels_integers_and_half_precision_stay() -> None:
    labels, half = torch.tensor([0.0, 1.0] * 16), torch.randn(32).half()
    measures = measured(lambda x: x.float().unfold(0, 2, 2).sum(-1))
    assert burdened([torch.arange(32), labels, half], measures, ["sum"]) is None


@pytest.mark.parametrize("name", ["convolution", "addmm", "_softmax", "exp"])
def test_products_may_be_mixed_and_weighed_scores_masked(name: str) -> None:
    inputs, measures = [torch.randn(8, 32)], measured(lambda x: x.unfold(1, 4, 4).sum(-1))
    assert burdened(inputs, measures, ["unfold", "sum", name]) is None
    assert burdened(inputs, measures, ["unfold", "sum"]) is not None


def test_large_lines_are_no_rows_of_all_magnitudes() -> None:
    payload = {"source": TASK, "entry_point": "Model", "variants": 1, "seeds": [1], "level": "trust", "whole": 0,
               "precision": "ieee", "named": []}  # fmt: skip
    reference = Unusual(payload)
    (variant, *_) = plan(reference.prober, 1)
    reference._trials(0, variant)
    trials = {style: reference._trial(0, variant, 1, style) for style in ("burdened", "farthest", "nearest")}
    assert all(trial is not None and trial["style"] == style for style, trial in trials.items())
    alongs = [trial["kept"].get("along") for trial in trials.values() if trial is not None]
    assert alongs == [1, None, None]


def test_each_input_that_tells_has_such_lines_one_after_another() -> None:
    def pooled(inputs: list[Tensor]) -> Tensor:
        one, *windows = inputs
        return one + sum((nn.functional.avg_pool1d(w, 4) for w in windows), torch.zeros(()))

    measures = Measures(pooled, lambda inputs: pooled([t.double() for t in inputs]), pooled)
    given = [torch.randn(4, 8), torch.randn(4, 32), torch.randn(4, 32)]
    first = burdened(given, measures, ["sum"])
    assert first is not None
    second = burdened(given, measures, ["sum"], first)
    assert second is not None
    assert [n for n in range(3) if first.inputs[n] is not given[n]] == [1]
    assert [n for n in range(3) if second.inputs[n] is not given[n]] == [2]
    assert burdened(given, measures, ["sum"], second) is None
