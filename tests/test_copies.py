"""Deep copies of modules, a candidate's and a reference's, and inputs whose rows are copies of others'."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from kdata.verify.candidate.setting import duplicate
from kdata.verify.reference.alike import graded, paired
from kdata.verify.reference.influence import copies


class Table(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.table = torch.arange(6.0)
        self.rows = [self.table.view(2, 3)[1]]

    def forward(self, x: torch.Tensor) -> Any:
        return x * self.weight


class Closed(Table):
    def __init__(self) -> None:
        super().__init__()
        self.scaled = lambda x: x * self.weight

    def forward(self, x: torch.Tensor) -> Any:
        return self.scaled(x)


class Locked(Table):
    def __deepcopy__(self, _: Any) -> Any:
        raise TypeError("it holds a lock")


class Made(TorchDispatchMode):
    """Which operators have made tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(function.overloadpacket.__name__)
        return function(*args, **(kwargs or {}))


def test_memory_of_a_copy_is_made_by_operators_and_stays_shared() -> None:
    model = Table()
    with Made() as made:
        copied: Any = duplicate(model)
    assert made.names.count("clone") == 2  # of the weight, and of the table with its row
    assert copied.weight is not model.weight and copied.weight.requires_grad
    copied.table.fill_(7.0)
    assert copied.rows[0].tolist() == [7.0] * 3
    assert model.rows[0].tolist() == [3.0, 4.0, 5.0]


def test_what_cannot_be_copied_is_itself() -> None:
    model = Locked()
    assert duplicate(model) is model


@pytest.mark.parametrize(("kind", "wanted"), [(Table, True), (Closed, False), (Locked, False)])
def test_a_reference_says_whether_its_copies_are_modules_of_their_own(kind: type[Table], wanted: bool) -> None:
    state, x = {"weight": torch.full((3,), 2.0)}, torch.ones(3)
    assert copies(kind(), state, lambda module: module(x), 2 * x) is wanted


def test_rows_become_multiples_of_another_inputs() -> None:
    x, y = torch.randn(4, 3), torch.randn(4, 3)
    made = paired([x, y])
    assert made is not None and made[0] is x
    assert torch.equal(made[1], torch.stack([x[0], y[1], 2 * x[2], -x[3]]))
    above = paired([x.abs(), y.abs()])
    assert above is not None and float(above[1].min()) >= 0  # what is never negative stays so
    assert paired([x, torch.randn(5, 3)]) is None


def test_all_queries_agree_which_key_is_the_largest_and_by_how_much() -> None:
    q, k, mask = torch.randn(2, 40, 16), torch.randn(2, 60, 16), torch.zeros(40, 60)
    made = graded([q, k, mask], torch.Generator().manual_seed(1))
    assert made is not None and made[2] is mask  # zeros stay zeros
    gaps = (made[0] @ made[1].mT / 16**0.5).log_softmax(-1)
    for largest, others in ((gaps[0, :, 0], gaps[0, :, 1:]), (gaps[1, :, -1], gaps[1, :, :-1])):
        assert bool((largest > -0.1).all()) and -8.0 > float(others.max()) > -11.0
    assert graded([q.abs(), mask], torch.Generator()) is None
