"""Arguments that the package names elsewhere: what parameters are called by, words of a table, how many steps back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attempts import cut_and_attempted
from tests.cuts import HEAD, cut

SUPER = """import torch
import torch.nn as nn


def same_size(inside, outside, kernel_size, bias=True):
    return nn.Conv2d(inside, outside, kernel_size, padding=kernel_size // 2, bias=bias)


class Block(nn.Module):
    def __init__(self, conv, width, kernel_size):
        super().__init__()
        self.body = nn.Sequential(conv(width, width, kernel_size), nn.ReLU(), conv(width, width, kernel_size))

    def forward(self, x):
        return x + self.body(x)


class Whole(nn.Module):
    def __init__(self, options, conv=same_size):
        super().__init__()
        self.body = nn.Sequential(*[Block(conv, options.width, 3) for _ in range(options.depth)])

    def forward(self, x):
        return self.body(x)
"""
RECURRENT = """import torch
import torch.nn as nn


class Steps(nn.Module):
    def __init__(self, cell_kind, width, lags_seq):
        super().__init__()
        self.rnn = {"lstm": nn.LSTM, "gru": nn.GRU}[cell_kind](width, width, batch_first=True)
        self.lags = lags_seq

    def forward(self, x):
        assert max(self.lags) <= x.shape[1] // 8, "lags cannot go further than an eighth of the history"
        behind = [x[:, x.shape[1] - lag] for lag in self.lags]
        return self.rnn(x)[0][:, -1] + sum(behind)
"""
CHECKED = """
from pydantic import create_model


def validated():
    def wrapper(init):
        model = create_model(init.__name__, __config__=object)
        return lambda self, *args: init(self, *model(*args))
    return wrapper


class Net(nn.Module):
    @validated()
    def __init__(self, width: int):
        super().__init__()
        self.line = nn.Linear(width, width)
"""


@pytest.mark.parametrize(("text", "symbol"), [(SUPER, "Block"), (RECURRENT, "Steps")])
def test_arguments_are_what_the_package_says_elsewhere(text: str, symbol: str, tmp_path: Path) -> None:
    made = cut_and_attempted(text, symbol, tmp_path)
    assert not made["reason"], made["detail"]
    assert symbol != "Block" or "same_size" in made["source"].split("def get_init_inputs")[1]


def test_checks_of_arguments_are_left_out() -> None:
    source = cut({"net.py": HEAD + CHECKED}, "net.py", "Net")
    assert "validated" not in source
    assert "pydantic" not in source


def test_a_folder_called_torch_is_not_torch() -> None:
    text = "\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return torch.symeig(x)[0]\n"
    assert "torch._removed" not in cut({"lib/torch/net.py": HEAD + text}, "lib/torch/net.py", "Net")


ACTS = """import torch
import torch.nn as nn


class Actor(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mean, self.value = nn.Linear(width, 2), nn.Linear(width, 1)

    def step(self, seen):
        with torch.no_grad():
            return self.mean(seen).cpu().numpy(), self.value(seen).numpy()
"""


def test_who_acts_with_arrays_answers_with_tensors(tmp_path: Path) -> None:
    made = cut_and_attempted(ACTS, "Actor", tmp_path)
    assert not made["reason"], made["detail"]
    assert "return self.mean(seen).cpu(), self.value(seen)\n" in made["source"]
