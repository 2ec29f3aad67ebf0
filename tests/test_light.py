"""Mining is light: no larger calls than need be, none that tell what is known, no memory for what is as good smaller."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from sources import probe
from sources.infer.initial import REPEATED, quicken


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


def test_truncated_numbers_of_a_parameter_are_made_once_for_all_that_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("uniform_", "normal_"):
        monkeypatch.setattr(torch.Tensor, name, getattr(torch.Tensor, name))
    monkeypatch.setattr(nn.init, "trunc_normal_", nn.init.trunc_normal_)
    made, fill = list[int](), nn.init._no_grad_trunc_normal_

    def noted(tensor: torch.Tensor, *given: Any, **named: Any) -> torch.Tensor:
        made.append(tensor.numel())
        return fill(tensor, *given, **named)

    monkeypatch.setattr(nn.init, "_no_grad_trunc_normal_", noted)
    quicken()
    weight = nn.init.trunc_normal_(nn.Parameter(torch.empty(500, 600)), std=0.02).flatten()
    assert made == [REPEATED]
    assert torch.equal(weight[REPEATED:], weight[:-REPEATED])
