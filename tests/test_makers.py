"""Functions that need arguments and make networks: what they make is seen at work, with parts that fit."""

from __future__ import annotations

import ast

import pytest
from torch import nn

from kdata.record import Definition, Origin, SourceFile, Task
from sources import mine
from sources.hints.makers import as_class, makes

NETS = """import torch
import torch.nn as nn


class Look(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table, self.width = nn.Embedding(words + 1, width, padding_idx=words), width

    def forward(self, x):
        return self.table(x)


class Read(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.cells, self.hidden = nn.GRU(width, hidden, batch_first=True), hidden

    def forward(self, x):
        return self.cells(x)[0][:, -1]


class Weigh(nn.Module):
    def __init__(self, seen, asked, hidden):
        super().__init__()
        self.line, self.one = nn.Linear(seen + asked, hidden), nn.Linear(hidden, 1)

    def forward(self, seen, asked):
        asked = asked.unsqueeze(1).repeat(1, seen.size(1), 1)
        return self.one(self.line(torch.cat((seen, asked), 2)).relu()).softmax(1)


class Answer(nn.Module):
    def __init__(self, look, read, weigh, left, right, out):
        super().__init__()
        self.look, self.read, self.weigh = look, read, weigh
        self.left, self.right, self.out = left, right, out

    def forward(self, seen, asked):
        asked = self.read(self.look(asked))
        seen = (self.weigh(seen, asked) * seen).sum(1)
        return self.out(self.left(asked) * self.right(seen))


def put_together(data, hidden):
    look = Look(data.words.count, 20)
    read = Read(look.width, hidden)
    weigh = Weigh(data.seen_dim, read.hidden, hidden)
    left, right = nn.Linear(hidden, hidden), nn.Linear(data.seen_dim, hidden)
    return Answer(look, read, weigh, left, right, nn.Linear(hidden, data.answers))
"""


@pytest.fixture(scope="module")
def mined() -> dict[str, Task]:
    origin = Origin("git", "x/nets", "1", "nets.py", ("MIT",))
    cut = list(mine.cut_step().function([SourceFile(origin, NETS)]))
    made = list(mine.step(operators=mine.LARGE).function([d for d in cut if isinstance(d, Definition)]))
    return {t.symbol: t for t in made if isinstance(t, Task)}


def test_what_a_function_makes_of_arguments_is_seen_at_work(mined: dict[str, Task]) -> None:
    answer = mined["Answer"]
    assert "MadeBy" not in answer.source
    assert {i.dtype for i in answer.inputs} == {"float32", "int64"}


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("def build(args):\n    return args", True),
        ("def build():\n    return 1", False),  # it needs nothing: it just runs
        ("def build(args=None):\n    return 1", False),
        ("def build(args):\n    args.x()", False),
        ("def train_epoch(args):\n    return 1", False),
        ("@cached\ndef build(args):\n    return 1", False),
    ],
)
def test_which_functions_make_something(text: str, made: bool) -> None:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert makes(function) is made


def test_a_function_is_said_as_a_class_that_holds_what_it_makes() -> None:
    text, name = as_class("def build_net(a, b=2, *, c, d=4):\n    return [a, b, c, d]\n", "build_net")
    namespace: dict[str, type] = {}
    exec(text, namespace)
    assert issubclass(namespace[name], nn.Module)
    assert namespace[name](1, c=3).made_here == [1, 2, 3, 4]
    assert as_class("build = 3\n", "build")[1] == ""
