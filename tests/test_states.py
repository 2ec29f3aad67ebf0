"""States that a recurrent module takes are as its own method makes the first."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from sources.infer.inputs import Many, Tensor
from sources.infer.running.calls import call
from sources.infer.running.progress import Budget
from sources.infer.search import Solution, solve
from sources.probe import load
from tests.cuts import HEAD, cut

STACK = """class Net(nn.Module):
    def __init__(self, layers, width):
        super().__init__()
        self.more = nn.ModuleList(nn.LSTM(width, width + 6) for _ in range(layers))
        self.width = width

    def init_head(self, x):
        return x

    def init_hidden(self, count):
        weight = next(self.parameters())
        return [(weight.new(1, count, self.width + 6).zero_(), weight.new(1, count, self.width + 6).zero_())
                for _ in self.more]

    def forward(self, x, hidden):
        return [layer(x, state) for layer, state in zip(self.more, hidden)]
"""


def test_a_method_that_makes_the_first_state_tells_what_one_is(tmp_path: Path) -> None:
    source = cut({"net.py": HEAD + STACK}, "net.py", "Net")
    assert "def init_hidden" in source
    assert "def init_head" not in source
    assert "def init_hidden" not in cut({"net.py": HEAD + STACK.replace("hidden)", "y)")}, "net.py", "Net")
    namespace = load(source, tmp_path)
    found = solve(namespace["Net"], namespace, source)
    assert isinstance(found, Solution), found
    x, hidden = found.specs
    assert isinstance(x, Tensor)
    assert isinstance(hidden, Many)
    assert isinstance(hidden.items[0], Many)
    assert hidden.items[0].items == (Tensor((1, x.shape[1], 70)),) * 2


class Attention(nn.Module):
    """Keeps what it computes of the words, for steps that follow."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: torch.Tensor | None = None
        self.words, self.step = nn.Linear(4, 8), nn.Linear(2, 8)

    def forward(self, words: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
        self.kept = self.words(words) if self.kept is None else self.kept
        return self.kept + self.step(step)


def test_a_failed_call_leaves_nothing_for_the_next() -> None:
    module = Attention()
    _, _, error = call(module, (Tensor((64, 4)), Tensor((3, 3))), Budget())
    assert error is not None and module.kept is None
    _, answer, error = call(module, (Tensor((3, 4)), Tensor((3, 2))), Budget())
    assert error is None and answer.shape == (3, 8) and module.kept is not None
