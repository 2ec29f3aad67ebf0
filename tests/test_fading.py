"""Inputs that fade to nothing, and weights that lean to one side: where ordinary draws of both show nothing."""

from __future__ import annotations

import torch
from torch import nn

from kdata.verify.reference.fading import SCALES, emptied, fading
from kdata.verify.reference.leaning import Factors, leaning


class Gated(nn.Module):
    """A table, a product of matrices, and a decay."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(9, 4)
        self.mixed = nn.Linear(4, 4)
        self.decay = nn.Parameter(torch.zeros(4))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        mixed: torch.Tensor = self.mixed(self.table(ids))
        return mixed * torch.sigmoid(self.decay)


def test_lines_fade_one_after_another_and_a_line_of_each_kind_is_zero() -> None:
    rows, labels = torch.ones(10, 6), torch.tensor([0.0, 1.0, 1.0, 0.0])
    changed = fading([rows, labels, torch.arange(3), 2], zeros=True)
    assert changed is not None
    faded, *others = changed
    assert [row[0].item() for row in faded[:5]] == torch.tensor(SCALES).tolist()
    assert not faded[5].any()
    assert not faded[:, 3].any()
    assert others[0] is labels
    assert rows.all()


def test_columns_fade_as_rows_do_unless_the_first_dimension_alone_is_wanted() -> None:
    rows = torch.ones(10, 6)
    (both,), (first,) = (fading([rows], zeros=False, first=alone) or [] for alone in (False, True))
    scales = torch.tensor(SCALES).tolist()
    assert both.amax(0)[:5].tolist() == both.amax(1)[:5].tolist() == first.amax(1)[:5].tolist() == scales
    assert both.min() == SCALES[-1]
    assert first.amax(0).tolist() == [1.0] * 6


def test_lines_are_empty_but_not_all_of_an_input() -> None:
    maps, row, column, labels = torch.ones(4, 3, 5), torch.ones(1, 7), torch.ones(7, 1), torch.tensor([0.0, 1.0, 1.0])
    changed = emptied([maps, row, column, labels, 3])
    assert not changed[0][2].any()
    assert not changed[0][:, 1, 2].any()
    assert changed[0][0, 0].all()
    assert [int((t == 0).sum()) for t in changed[1:3]] == [1, 1]
    assert changed[3] is labels
    assert maps.all()


def test_of_maps_one_is_zero_throughout_and_nothing_is_where_zeros_are_not_wanted() -> None:
    maps = torch.ones(8, 3, 5, 7)
    changed, without = fading([maps], zeros=True), fading([maps], zeros=False)
    assert changed is not None
    assert without is not None
    assert not changed[0][4, 1].any()
    assert without[0].all()
    assert fading([torch.arange(5)], zeros=True) is None


def test_what_is_multiplied_or_looked_up_does_not_lean() -> None:
    module = Gated()
    with Factors(frozenset({"embedding"})) as factors, torch.no_grad():
        module(torch.arange(5))
    names = factors.others(module)
    assert names == ["decay"]
    first, second = leaning(module.state_dict(), names)
    assert first["decay"].tolist() == [5.0, -5.0, 0.0, 5.0]
    assert second["decay"].tolist() == [-5.0, 5.0, 0.0, -5.0]
    assert first["mixed.weight"] is not None
    assert not module.decay.any()
