"""What a program's own text says when it fails: each class here ran only after one of these leads was followed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.infer.constructor.nested import changed
from sources.infer.constructor.trouble import Trouble
from sources.infer.inputs import REPEATED, Many, Tensor, draw
from sources.infer.running.progress import Budget, Progress
from sources.infer.runs import Runs
from sources.infer.search import Solution, solve
from sources.infer.sizes import bounded
from sources.probe import load
from sources.text.on_cpu import OnOne
from sources.watch.seen import as_seen

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
RAISES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def angles(self, pos):
        if pos.shape[-1] != 2:
            raise ValueError("wrong input")
        return pos[..., 0] * self.scale[0]

    def forward(self, x, pos):
        return x.sum() + self.angles(pos)
"""
LACKS = """
class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, hidden, mask=None, scale=2.0, states=None):
        assert states is not None, "needed here"
        return scale * self.query(hidden) + self.key(states)
"""
STATE = """
class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embed = nn.Embedding(50, size)
        self.lstm = nn.LSTM(size, 2 * size, 2, batch_first=True)

    def forward(self, x, h):
        out, (h, c) = self.lstm(self.embed(x), h)
        return out, h, c
"""
GRAPH = """
class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, data):
        features, edge_index = data  # of nodes and edges
        assert edge_index.shape[0] == 2
        return self.linear(features).index_select(0, edge_index[0])


class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.net = nn.Sequential(Layer(size))

    def forward(self, data):
        return self.net(data)
"""
CONDITIONED = """
class Net(nn.Module):
    def __init__(self, inner_model):
        super().__init__()
        self.inner_model = inner_model

    def forward(self, x, sigma):
        return self.inner_model(x * sigma.mean(), sigma, scale=2.0) + x
"""
CHOSEN = """
absent = None


def factory(opt):
    if opt["arch"] == "pretrained":
        return getattr(absent, opt["type"])
    elif opt["arch"] == "plain":
        return nn.Linear(8, 8)
    raise NotImplementedError


class Net(nn.Module):
    def __init__(self, opt={}):
        super().__init__()
        opt["net"]["type"] = "relu"
        self.net = factory(opt["net"])

    def forward(self, x):
        return self.net(x)
"""
LENGTHS = """
class Net(nn.Module):
    def __init__(self, count, heads, sizes):
        super().__init__()
        assert count == len(heads) == len(sizes) - 1, "wrong"
        assert sizes[0] % heads[0] == 0
        self.layers = nn.Sequential(*(nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])))

    def forward(self, x):
        return self.layers(x)
"""
MIXED = """
class Net(nn.Module):
    def __init__(self, size, count):
        super().__init__()
        self.linear, self.embed = nn.Linear(size, 16), nn.Embedding(count, 16)

    def forward(self, marks):
        return self.linear(marks[:, :, :-1]) + self.embed(marks[:, :, -1].long())
"""
EMPTY = """
class Net(nn.Module):
    def __init__(self, width=8, answers=[]):
        super().__init__()
        self.linear = nn.Linear(width, len(answers))

    def forward(self, x):
        return self.linear(x)
"""
WORDS = """
class Net(nn.Module):
    def __init__(self, context=3):
        super().__init__()
        self.embed, self.linear = nn.Embedding(100, 10), nn.Linear(context * 10, 5)

    def forward(self, words):
        return self.linear(self.embed(words).view(1, -1))
"""


def _solved(text: str, folder: Path) -> tuple[Solution, dict[str, Any]]:
    namespace = load(HEAD + text, folder)
    found = solve(namespace["Net"], namespace, HEAD + text)
    assert isinstance(found, Solution), found
    return found, namespace


@pytest.mark.parametrize("text", [RAISES, LACKS, STATE, GRAPH, CONDITIONED, CHOSEN, LENGTHS, MIXED, EMPTY, WORDS])
def test_a_lead_is_followed(text: str, tmp_path: Path) -> None:
    _solved(text, tmp_path)


def test_leads_give_what_is_asked_for(tmp_path: Path) -> None:
    assert _solved(RAISES, tmp_path)[0].specs[1].shape[-1] == 2  # type: ignore[union-attr]
    states = _solved(STATE, tmp_path)[0].specs[1]
    assert isinstance(states, Many) and states.kind == "tuple" and len(states.items) == 2
    assert len(_solved(LACKS, tmp_path)[0].specs) == 4


def test_arguments_inside_of_arguments_are_changed() -> None:
    class Block(nn.Module):
        def __init__(self, size: int, modes: Any = 4, bias: bool = True) -> None:
            super().__init__()

    trouble = Trouble("TypeError: '<' not supported between instances of 'int' and 'str'", near="if modes < 3:")
    found = list(changed("[Block(64, modes='default')]", {"Block": Block}, trouble, {"modes": "32"}))
    assert "[Block(64, modes=32)]" in found
    assert all("Block(64" in text and "bias" not in text for text in found)


def test_what_was_seen_and_tells_nothing_is_not_taken(tmp_path: Path) -> None:
    text = "class Net(nn.Module):\n    def forward(self, x):\n        return torch.log(x).mean(0)\n"
    namespace = load(HEAD + text, tmp_path)
    seen = {"arguments": {}, "specs": [["tensor", [4, 64], "float", 0]]}
    assert as_seen(namespace["Net"], namespace, seen, 60) is None
    seen = {"arguments": {}, "specs": [["tensor", [4, 64], "unit", 0]]}
    assert as_seen(namespace["Net"], namespace, seen, 60) is not None


def test_few_indices_that_were_lucky_are_no_range(tmp_path: Path) -> None:
    text = (
        "class Net(nn.Module):\n    def __init__(self, words, size):\n        super().__init__()\n"
        "        self.embed = nn.Embedding(words, size)\n\n    def forward(self, x):\n        return self.embed(x)\n"
    )
    namespace = load(HEAD + text, tmp_path)
    found = Solution({"words": "64", "size": "100"}, (Tensor((1,), "int", 16),))
    (spec,) = bounded(found, Runs(namespace["Net"], namespace, 60)).specs
    assert isinstance(spec, Tensor) and spec.high <= 64


def test_numbers_come_before_tuples_where_either_may_be_given() -> None:
    assert values("kernel_size", "Union[int, Tuple[int, int]]", Uses())[0] == "3"
    assert values("kernel_size", "Tuple[int, int]", Uses())[0] == "(3, 3)"


def test_large_tensors_are_drawn_roughly() -> None:
    torch.manual_seed(0)
    rough = draw(Tensor((64, 1024)), roughly=True)
    assert rough.shape == (64, 1024) and rough.flatten()[0] == rough.flatten()[REPEATED]
    assert not any(torch.equal(rough[0], row) for row in rough[1:])


def test_nothing_is_dropped_roughly() -> None:
    x = torch.ones(1 << 17)
    with Progress(Budget(), roughly=True):
        assert torch.equal(nn.functional.dropout(x, 0.5), x)
    with Progress(Budget()):
        assert not torch.equal(nn.functional.dropout(x, 0.5), x)


def test_no_tensor_is_compared_on_the_way_to_a_device() -> None:
    class Proud(torch.Tensor):
        def __eq__(self, other: object) -> Any:
            raise AssertionError("compared")

    with OnOne(torch.device("meta")):
        assert torch.ones(3, device="cpu").device.type == "meta"
        assert not OnOne(torch.device("meta"))._other(torch.ones(2).as_subclass(Proud))
