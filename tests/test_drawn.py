"""Weights that start as nothing are drawn: what is changed, what is not, and that tasks come of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kdata.task import execute
from sources import probe
from sources.infer.rewritten.drawn import NOTE, drawn, drawn_at_last

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
LAST = """
def zero_module(module):
    for p in module.parameters():
        p.detach().zero_()
    return module


class Net(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.last = zero_module(nn.Conv2d(channels, channels, 1))

    def forward(self, x):
        return self.last(F.relu(self.first(x)))
"""
GATE = """
class Net(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(n, m))

    def forward(self, x):
        return torch.matmul(x, self.weight)
"""


def _task(text: str, scratch: Path, sites: Sequence[dict[str, Any]] = ()) -> dict[str, str]:
    cut = {"source": HEAD + text, "name": "Net", "lacks": [], "told": {"sites": list(sites), "defaults": {}}}
    probe.warm()
    return probe.attempt_one(cut, 2000, scratch)


def test_zeros_and_unset_memory_are_drawn_and_the_rest_stays() -> None:
    text = drawn(
        "class Net(nn.Module):\n"
        "    def __init__(self, n):\n"
        "        self.gamma = nn.Parameter(torch.zeros(1))\n"
        "        self.w = nn.Parameter(2 * torch.empty(n, n).float())\n"
        "        self.known = nn.Parameter(torch.Tensor([0.5]))\n"
        "        self.count = nn.Parameter(torch.zeros(n, dtype=torch.long), requires_grad=False)\n"
        "        nn.init.zeros_(self.c.bias)\n"
        "        nn.init.constant_(self.c.weight, 0)\n"
        "        nn.init.constant_(self.d.weight, 0.5)\n"
        "        self.e.weight.data.fill_(0)\n\n"
        "    def forward(self, x):\n"
        "        x.zero_()\n"
        "        return x + torch.zeros(1)\n"
    )
    lines = [line.strip() for line in text.splitlines()]
    assert "self.gamma = nn.Parameter(0.1 * torch.randn(1))" in lines
    assert "self.w = nn.Parameter(2 * (0.1 * torch.randn(n, n)).float())" in lines
    assert "self.count = nn.Parameter(torch.zeros(n, dtype=torch.long), requires_grad=False)" in lines
    assert {"self.known = nn.Parameter(torch.Tensor([0.5]))", "nn.init.zeros_(self.c.bias)", "x.zero_()",
            "nn.init.constant_(self.d.weight, 0.5)", "return x + torch.zeros(1)"} <= set(lines)  # fmt: skip
    assert "self.c.weight" not in text
    assert "self.e.weight" not in text


def test_a_last_layer_of_zeros_makes_a_task_that_says_so(tmp_path: Path) -> None:
    task = _task(LAST, tmp_path)
    assert task["reason"] == ""
    assert NOTE in task["source"].splitlines()[0]
    program = execute(task["source"], "Net")
    assert float(program.build()(*program.inputs()).detach().std()) > 0


def test_a_parameter_of_zeros_makes_a_task(tmp_path: Path) -> None:
    task = _task(GATE, tmp_path)
    assert task["reason"] == ""
    assert "torch.randn(n, m)" in task["source"]


def test_what_runs_as_it_is_is_left_as_it_is(tmp_path: Path) -> None:
    task = _task(LAST.replace("self.last(F.relu(self.first(x)))", "x + self.first(x)"), tmp_path)
    assert task["reason"] == ""
    assert NOTE not in task["source"]


def test_where_a_part_draws_at_random_another_call_of_the_package_is_taken(tmp_path: Path) -> None:
    text = (
        "class Noisy(nn.Module):\n    def forward(self, x):\n        return x + torch.randn_like(x)\n\n\n"
        "class Calm(nn.Module):\n    def forward(self, x):\n        return x.exp()\n\n\n"
        "class Net(nn.Module):\n    def __init__(self, part):\n        super().__init__()\n        self.part = part\n\n"
        "    def forward(self, x):\n        return self.part(x).tanh()\n"
    )
    sites = [{"positional": [f"{name}()"], "named": {}} for name in ("Noisy", "Calm")]
    task = _task(text, tmp_path, sites)
    assert task["reason"] == ""
    assert "[Calm()]" in task["source"]


def test_what_fills_weights_with_zeros_by_default_draws_them() -> None:
    text = drawn(
        "class Net:\n    def __init__(self, n, init=nn.init.zeros_, bias_init=nn.init.zeros_):\n        pass\n"
    )
    assert "init=nn.init.normal_, bias_init=nn.init.zeros_" in text


def test_what_draws_weights_of_next_to_nothing_draws_larger_ones() -> None:
    text = drawn(
        "class Net:\n    def __init__(self, start=RandomNormal(0, 0.0001), rate=Decay(0.0001)):\n        pass\n"
    )
    assert "start=RandomNormal(0, 0.1), rate=Decay(0.0001)" in text


def test_scales_of_layers_that_start_as_next_to_nothing_by_any_init_count() -> None:
    text = drawn(
        "class Net:\n    def __init__(self, init: float = 1e-4, dconv_init=1e-3, initial=1e-3):\n        pass\n"
    )
    assert "init: float = 0.1, dconv_init=0.1, initial=1e-3" in text


SCALED = """
class Scale(nn.Module):
    def __init__(self, start=1.0):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(start, dtype=torch.float))

    def forward(self, x):
        return x * self.scale


class Net(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.line = nn.Linear(channels, channels)
        self.gamma = Scale(0)

    def forward(self, x):
        return x + self.gamma(self.line(x))
"""


def test_weights_that_some_other_class_starts_as_zeros_are_drawn_when_all_are_made(tmp_path: Path) -> None:
    assert drawn(SCALED) == SCALED
    outcome = _task(SCALED, tmp_path)
    assert not outcome["reason"] and NOTE in outcome["source"]
    module = execute(outcome["source"], "Net").build()
    assert float(module.gamma.scale.detach()) != 0


def test_a_class_without_a_constructor_gets_one_that_draws_but_for_biases() -> None:
    text = drawn_at_last(f"{HEAD}{SCALED}\n\nclass Below(Net):\n    pass\n\n\nx = 1\n", "Below")
    space: dict[str, Any] = {}
    exec(text.replace("Scale(0)", "Scale(0); nn.init.zeros_(self.line.bias)"), space)
    module = space["Below"](4)
    assert float(module.gamma.scale.detach()) != 0 and not module.line.bias.detach().any()
    assert drawn_at_last(text, "Other") == text


def test_a_parameter_of_a_variable_is_drawn_where_that_is_made() -> None:
    text = f"{HEAD}class Line(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n" + "".join(
        f"        {line}\n"
        for line in (
            "w = torch.empty((n, n), dtype=torch.float32)",
            "index = torch.zeros(n)",
            "first = torch.zeros(n)",
            "first[0] = 1",
            "self.w, self.first = nn.Parameter(w), nn.Parameter(first)",
        )
    )
    space: dict[str, Any] = {}
    exec(drawn(text), space)
    assert 0 < float(space["Line"](40).w.detach().std()) < 0.2
    assert "index = torch.zeros(n)" in drawn(text) and "first = torch.zeros(n)" in drawn(text)
