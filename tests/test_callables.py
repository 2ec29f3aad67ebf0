"""Layers that forward is given beside its tensors are the constructor's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from sources import mine, probe
from sources.text.callables import owned

RESIDUAL = """import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, size, dropout=0.1):
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer: "Callable", scale=1.0):
        "Apply residual connection to any sublayer with the same size."
        return x + scale * self.dropout(sublayer(self.norm(x)))
"""


def test_a_residual_connection_owns_what_it_is_given_around() -> None:
    source, taken = owned(RESIDUAL, "Net")
    assert taken == ["sublayer"]
    assert "def __init__(self, sublayer, size, dropout=0.1):" in source
    assert "def forward(self, x, scale=1.0):" in source
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    net, x = namespace["Net"](torch.nn.Linear(8, 8), 8).eval(), torch.randn(2, 8)
    assert torch.equal(net(x), x + net.given_sublayer(net.norm(x)))


def test_what_is_called_and_computed_with_or_is_all_there_is_stays_an_input() -> None:
    used = RESIDUAL.replace("sublayer(self.norm(x))", "sublayer(self.norm(x)) + sublayer.weight.sum()")
    assert owned(used, "Net") == (used, [])
    alone = RESIDUAL.replace("x, sublayer", "sublayer").replace("self.norm(x)", "self.norm.weight")
    assert owned(alone, "Net") == (alone, [])
    assert owned(RESIDUAL, "Other") == (RESIDUAL, [])


def test_a_class_that_is_given_a_layer_becomes_a_task(tmp_path: Path) -> None:
    probe.warm()
    told: dict[str, Any] = {"sites": [{"positional": ["32", "0.2"], "named": {}}], "defaults": {}, "users": []}
    cut = {"name": "Net", "source": RESIDUAL, "told": told, "lacks": [], "header": []}
    found = probe.attempt_one(cut, mine.LARGE, tmp_path)
    assert found["reason"] == ""
    assert "nn." in found["source"].split("def get_init_inputs")[1]
