"""Inputs that number classes, that go by keys, and lists that are turned; words that functions have by default."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from torch import nn

from sources.hints.spelling import held_before
from sources.infer.forward.failure import Failure
from sources.infer.forward.repairs import repairs
from sources.infer.forward.unpacked import unpacked
from sources.infer.inputs import Many, Plain, Tensor
from sources.infer.search import Solution, solve
from sources.probe import load

HEAD = "import torch\nimport torch.nn as nn\n\n\n"
TRIPLETS = """class Net(nn.Module):
    def forward(self, f, labels):
        n = f.size(0)
        away = torch.cdist(f, f.sigmoid())
        same = labels.expand(n, n).eq(labels.expand(n, n).t())
        return (away.masked_fill(~same, 0).amax(1) - away.masked_fill(same, 1e9).amin(1) + 9).clamp(0, 99).sum()
"""
PAIRS = """class Net(nn.Module):
    def forward(self, source, target):
        return sum((t - source[k]).square().sum() for k, t in target.items())
"""
TURNED = """class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(width, width, 1) for _ in range(3))

    def forward(self, x):
        last = self.layers[-1](x[-1])
        return [last, *(layer(level) for level, layer in zip(x[:-1][::-1], self.layers))]
"""


def solved(text: str, scratch: Path) -> Solution:
    namespace = load(HEAD + text, scratch)
    found = solve(namespace["Net"], namespace, HEAD + text)
    assert isinstance(found, Solution), found
    return found


def test_labels_of_which_some_are_the_same_are_numbers_of_classes(tmp_path: Path) -> None:
    _, labels = solved(TRIPLETS, tmp_path).specs
    assert isinstance(labels, Tensor)
    assert (labels.kind, len(labels.shape)) == ("int", 1)


def test_what_is_asked_for_its_keys_is_a_dictionary(tmp_path: Path) -> None:
    source, target = solved(PAIRS, tmp_path).specs
    assert isinstance(source, Many)
    assert isinstance(target, Many)
    assert source.kind == target.kind == "dict"
    assert source.keys == target.keys == ("first", "second")


def test_keys_are_those_by_which_a_module_holds_its_parts() -> None:
    module = nn.Module()
    module.parts = nn.ModuleDict({"user": nn.Linear(2, 2), "item": nn.Linear(2, 2)})
    error = "AttributeError: 'Tensor' object has no attribute 'keys'"
    first = repairs(Failure((Tensor((4, 2)),), error, module))[0][1][0]
    assert first == Many((Tensor((4, 2)),) * 2, "dict", ("user", "item"))


@pytest.mark.parametrize(
    ("message", "wanted"),
    [("TypeError: torch.Size() takes an iterable of 'int' (item 0 is 'Tensor')", Plain(4)),
     ('TypeError: can only concatenate list (not "Tensor") to list', Many((Tensor((4, 2)),) * 3))],
)  # fmt: skip
def test_messages_ask_for_numbers_and_for_lists(message: str, wanted: Any) -> None:
    found = [specs[0] for _, specs in repairs(Failure((Tensor((4, 2)),), message, nn.Identity()))]
    assert wanted in found


def test_maps_that_are_turned_are_a_list(tmp_path: Path) -> None:
    (levels,) = solved(TURNED, tmp_path).specs
    assert isinstance(levels, Many)
    assert levels.kind == "list"


def test_words_that_a_function_has_by_default_are_what_it_hands_on() -> None:
    text = "def unet(width, depth=64, norm='batch', *, act='relu'):\n    layer = make(norm)\n    return Net(width, layer)\n"
    held = held_before(ast.parse(text).body[0], 3)
    assert {name: ast.unparse(value) for name, value in held.items()} == {
        "norm": "'batch'", "act": "'relu'", "layer": "make(norm)"
    }  # fmt: skip


def test_a_comment_tells_what_an_input_is_unpacked_into() -> None:
    text = "def forward(self, pxo):\n    p, x, o = pxo  # (n, 3), (n, c), (b)\n    return p\n"
    assert unpacked(nn.Linear(8, 2), "pxo", text) == [
        Many((Tensor((64, 3)), Tensor((64, 8)), Tensor((4,), "full", 64)), "tuple")
    ]
    assert unpacked(nn.Linear(8, 2), "pxo", text.replace("(b)", "b")) == []


def test_labels_of_which_each_is_a_number_are_one_for_each_row(tmp_path: Path) -> None:
    text = (
        "class Net(nn.Module):\n    def __init__(self, dim, classes):\n        super().__init__()\n"
        "        self.score = nn.Linear(dim, classes)\n\n    def forward(self, x, label):\n"
        "        score = self.score(x)\n        return sum(score[i, int(label[i])] for i in range(x.size(0)))\n"
    )
    assert solved(text, tmp_path).specs[1] == Tensor((4,), "int", 2)


def test_labels_are_those_that_a_check_lists(tmp_path: Path) -> None:
    text = """class Net(nn.Module):
    def forward(self, preds, target):
        target = target.long()
        if not set(target.unique().tolist()) <= {0, 1}:
            raise RuntimeError(
                f"Detected the following values in `target`: {target.unique()} but expected only"
                f" the following values [0, 1]."
            )
        return (preds.sigmoid() - target).abs().mean()
"""
    target = solved(text, tmp_path).specs[1]
    assert isinstance(target, Tensor) and (target.kind, target.high) == ("int", 2)
