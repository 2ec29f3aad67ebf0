"""Checks of values and types that a forward makes, one behind the other: each that is passed is nearer to the end."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch
from torch import nn

from sources.infer.forward.asserted import of_values, wishes
from sources.infer.forward.failure import Failure
from sources.infer.forward.repairs import repairs
from sources.infer.input_search import InputSearch
from sources.infer.inputs import Many, Tensor, draw
from sources.infer.running.calls import call
from sources.infer.running.progress import Budget
from sources.probe import load
from sources.text.on_cpu import respelled
from tests.cuts import HEAD

IN_A_ROW = """
class Dice(nn.Module):
    def forward(self, pred, gt, mask):
        assert pred.dim() == 4, pred.dim()
        pred, gt = pred[:, 0], gt[:, 0]
        assert pred.shape == gt.shape
        assert pred.shape == mask.shape
        return (pred * gt * mask).mean()


class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.main, self.sharp = Dice(), Dice()

    def forward(self, pred, batch):
        assert isinstance(pred, dict)
        assert 'binary' in pred
        assert 'thresh_binary' in pred
        binary, thresh_binary = pred['binary'], pred['thresh_binary']
        gt = batch['gt']
        mask = batch['mask']
        return self.main(binary, gt, mask) + self.sharp(thresh_binary, gt, mask)


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = Loss()

    def forward(self, pred, batch):
        metrics = self.loss(pred, batch)
        return metrics + ((pred['thresh'][:, 0] - batch['thresh_map']).abs() * batch['thresh_mask']).mean()
"""
BOUNDED = """
class Loss(nn.Module):
    def forward(self, pred, gt, mask):
        union = (pred * mask).sum() + (gt * mask).sum() + 1e-6
        loss = 1 - 2.0 * (pred * gt * mask).sum() / union
        assert loss <= 1
        return loss
"""
TYPED = """
class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Embedding(16, 8)

    def forward(self, x):
        assert isinstance(x, torch.LongTensor)
        return self.rows(x)
"""
FILLED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.filled, self.table = False, None

    def forward(self, x):
        if not self.filled:
            self.filled, self.table = True, x.mean(0)
        if x.dim() != 2:
            raise ValueError("rows")
        return x * self.table
"""


def test_the_checks_of_a_row_are_passed_one_by_one(tmp_path: Path) -> None:
    namespace = load(HEAD + IN_A_ROW, tmp_path)
    found = InputSearch(namespace["Whole"](), {}, Budget(), None, 140, -1).run()
    assert found.specs is not None
    assert not found.flaw


def test_a_bound_of_values_that_holds_for_some_draws_only_asks_for_others(tmp_path: Path) -> None:
    namespace = load(HEAD + BOUNDED, tmp_path)
    module, mask = namespace["Loss"](), Tensor((4, 1, 32, 32), "bool")
    normal = (Tensor((4, 1, 32, 32)), Tensor((4, 1, 32, 32)), mask)
    unit = (Tensor((4, 1, 32, 32), "unit"), Tensor((4, 1, 32, 32), "unit"), mask)
    seeds = range(4)
    error = next(e for seed in seeds if (e := call(module, normal, Budget(), seed=seed)[2]))
    assert unit in [*wishes(error, namespace["__file__"], normal, module)]
    assert not any(call(module, unit, Budget(), seed=seed)[2] for seed in seeds)
    assert of_values(namespace["__file__"])
    found = InputSearch(module, {}, Budget(), None, 140, -1, carried=normal).run()
    assert found.specs is not None
    assert {s.kind for s in found.specs if isinstance(s, Tensor)} <= {"unit", "bool"}


def test_what_is_asserted_to_be_of_a_type_is_drawn_so(tmp_path: Path) -> None:
    namespace = load(HEAD + TYPED, tmp_path)
    module = namespace["Table"]()
    with pytest.raises(AssertionError) as error:
        module(torch.zeros(4, 64))
    assert (Tensor((4, 64), "int", 16),) in [*wishes(error.value, namespace["__file__"], (Tensor((4, 64)),), module)]


@pytest.mark.parametrize("said", ["torch.cuda.LongTensor", "t.cuda.LongTensor"])
def test_a_type_of_the_gpu_is_that_of_the_host(said: str) -> None:
    tree = ast.parse(f"assert isinstance(x, {said})")
    assert [text for _, text in respelled(tree)] == [said.replace(".cuda", "")]


def test_a_failed_call_leaves_no_flag_behind(tmp_path: Path) -> None:
    module = load(HEAD + FILLED, tmp_path)["Net"]()
    assert call(module, (Tensor((2, 3, 4)),), Budget())[2] is not None
    assert call(module, (Tensor((2, 4)),), Budget())[2] is None


def test_all_levels_of_a_pyramid_get_the_rank_that_one_is_to_have() -> None:
    levels = tuple(Tensor((4, 8, side, side)) for side in (16, 8, 4))
    first = draw(levels[0])
    failure = Failure((Many(levels),), "ValueError: too many values to unpack (expected 3)", nn.Identity(), "__get__",
                      (first,), [first.untyped_storage().data_ptr(), 1, 2])  # fmt: skip
    found = {specs for _, specs in repairs(failure)}
    assert (Many(tuple(Tensor((4, 8, side * side)) for side in (16, 8, 4))),) in found
