"""An input whose outer lines are very large, where not all of an answer follows from them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from kdata.verify.reference.burdened import SHARE, TIMES, burdened
from kdata.verify.reference.magnitudes import Measures


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
    found = burdened([x], measured(function))
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
    assert burdened([torch.arange(32), labels, half], measures) is None
