"""What constructors' own checks ask for, and branches that a task does without because they touch the system."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from sources.hints.demands import demands
from sources.infer.constructor.trouble import Trouble, kinds
from sources.infer.search import Solution, solve
from sources.text.danger import branches, dangerous, harmful

HEAD = "import torch\nimport torch.nn as nn\n\n\n"
TABLE = """
SPECS = {18: [2, 2], 50: [3, 4]}


class Net(nn.Module):
    def __init__(self, depth, mode, kinds):
        super().__init__()
        blocks = SPECS[depth]
        if mode == "wide":
            width = 32
        elif mode == "slim":
            width = 8
        else:
            raise NotImplementedError
        assert len(kinds) == len(blocks) + 1
        self.line = nn.Linear(width, sum(blocks))

    def forward(self, x):
        return self.line(x)
"""
SETTINGS = """
class Settings:
    def __init__(self, vocab_size, hidden_size=768, num_hidden_layers=12):
        self.vocab_size, self.hidden_size, self.layers = vocab_size, hidden_size, num_hidden_layers


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        if not isinstance(config, Settings):
            raise ValueError("Parameter config should be an instance of class Settings")
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.lines = nn.ModuleList(nn.Linear(config.hidden_size, config.hidden_size) for _ in range(config.layers))

    def forward(self, tokens):
        x = self.embed(tokens)
        for line in self.lines:
            x = line(x)
        return x
"""
DEEP = """
class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        setup = config.model.vgg
        self.norm = setup.use_bn
        self.dropout = nn.Dropout(config.dropout)
        self.first = nn.Conv2d(3, setup.n_channels[0], 3)
        self.last = nn.Conv2d(setup.n_channels[0], setup.n_channels[1], 3)

    def forward(self, x):
        return self.dropout(self.last(self.first(x)))
"""


def _solved(text: str, folder: Path) -> Solution:
    file = folder / "task.py"
    file.write_text(HEAD + text)
    namespace: dict[str, Any] = {"__file__": str(file), "__name__": "task"}
    exec(compile(HEAD + text, str(file), "exec"), namespace)
    found = solve(namespace["Net"], {"nn": nn, "torch": torch} | namespace, HEAD + text)
    assert isinstance(found, Solution), found
    return found


def test_look_ups_chains_of_names_and_lengths_are_obeyed(tmp_path: Path) -> None:
    found = _solved(TABLE, tmp_path).arguments
    assert found["depth"] in ("18", "50")
    assert found["mode"] in ("'wide'", "'slim'")
    assert len(ast.literal_eval(found["kinds"])) == 3


def test_an_instance_that_is_asked_for_is_a_small_one(tmp_path: Path) -> None:
    config = _solved(SETTINGS, tmp_path).arguments["config"]
    assert config.startswith("Settings(vocab_size=")
    assert "hidden_size=48" in config
    assert "num_hidden_layers=2" in config


def test_parts_of_configurations_are_known_by_their_variables(tmp_path: Path) -> None:
    found = _solved(DEEP, tmp_path).arguments
    assert found["config.model.vgg"] == "<config>"
    assert found["config.model.vgg.n_channels"].startswith("[")
    assert float(found["config.dropout"]) >= 0  # self.dropout is called, not the configuration's


def test_a_failing_branch_of_a_flag_need_not_be_entered(tmp_path: Path) -> None:
    text = "def build(pretrained):\n    if pretrained:\n        fetch = {}['weights']\n    return pretrained\n"
    file = tmp_path / "program.py"
    file.write_text(text)
    namespace: dict[str, Any] = {}
    exec(compile(text, str(file), "exec"), namespace)
    with pytest.raises(KeyError) as caught:
        namespace["build"](True)
    asked = demands(caught.value, ast.parse(text), str(file))
    assert ("pretrained", True, ("False", "None")) in [(d.name, d.value, d.wanted) for d in asked]


def test_messages_tell_which_kind_of_value_does_not_do() -> None:
    trouble = Trouble("AttributeError: 'int' object has no attribute 'use_bn'")
    assert trouble.culprits == {"int"}
    assert "int" in kinds("[32, 64]")
    assert not trouble.culprits & kinds("<config>")
    assert Trouble("TypeError: 'NoneType' object is not callable").culprits == {"NoneType"}
    assert not Trouble("RuntimeError: shapes do not fit").culprits


def test_the_smallest_branches_that_touch_the_system_are_left_out() -> None:
    tree = ast.parse(
        "def load(path, n):\n    if path:\n        size = n\n        if n > 1:\n            size = open(path).read()\n"
        "        return size\n    if n:\n        w = model_zoo.load_url('x')\n    return n\n"
    )
    assert [ast.unparse(s) for s in sorted(branches(tree), key=lambda s: s.lineno)] == [
        "size = open(path).read()",
        "w = model_zoo.load_url('x')",
    ]
    assert dangerous(tree) == "open"
    assert harmful(tree) == ""
    assert harmful(ast.parse("def load(path):\n    return open(path)\n")) == "open"


def test_items_of_sequences_are_what_checks_ask_for(tmp_path: Path) -> None:
    text = """
class Net(nn.Module):
    def __init__(self, widths, block_types):
        super().__init__()
        for kind in block_types:
            if kind == "plain":
                make = nn.Linear
        self.lines = nn.ModuleList([make(8, sum(w for w in inner)) for inner in widths])

    def forward(self, x):
        return self.lines[0](x)
"""
    found = _solved(text, tmp_path).arguments
    assert "'plain'" in found["block_types"]
    assert found["widths"].startswith("[[")


def test_lists_of_modules_and_longer_lists_are_found_from_errors_inside_torch(tmp_path: Path) -> None:
    text = """
class Net(nn.Module):
    def __init__(self, base, extras, layers):
        super().__init__()
        self.base, self.extras = nn.ModuleList(base), nn.ModuleList(extras)
        self.line = nn.Linear(8, layers[7])

    def forward(self, x):
        return self.line(x) + len(self.base) + len(self.extras)
"""
    found = _solved(text, tmp_path).arguments
    assert found["base"].startswith("[nn.")
    assert found["extras"].startswith("[nn.")
    assert len(ast.literal_eval(found["layers"])) >= 8


def test_a_key_that_is_made_of_a_number_is_one_of_those_there_are(tmp_path: Path) -> None:
    text = "def build(size):\n    tables = {'320': 1, '512': 2, 'any': 3}\n    return tables[str(size)]\n"
    file = tmp_path / "program.py"
    file.write_text(text)
    namespace: dict[str, Any] = {}
    exec(compile(text, str(file), "exec"), namespace)
    with pytest.raises(KeyError) as caught:
        namespace["build"](32)
    asked = demands(caught.value, ast.parse(text), str(file))
    assert [(d.name, d.value, d.wanted) for d in asked] == [("size", 32, ("320", "512"))]


HELD = """
class Net(nn.Module):
    widths = {"tiny": 24, "base": 40}

    def __init__(self, name):
        super().__init__()
        self.line = nn.Linear(8, self.widths[name])

    def forward(self, x):
        return self.line(x)
"""


def test_a_key_of_a_table_that_the_class_holds_is_one_of_those_there_are(tmp_path: Path) -> None:
    assert _solved(HELD, tmp_path).arguments["name"] in ("'tiny'", "'base'")


BLOCKS = """
class Net(nn.Module):
    def __init__(self, depth, classes):
        super().__init__()
        assert (depth - 4) % 6 == 0
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        blocks = [nn.Sequential(nn.Conv2d(32 if i else 16, 32, 3, padding=1), nn.ReLU()) for i in range((depth - 4) // 6)]
        self.blocks = nn.Sequential(*blocks)
        self.norm = nn.BatchNorm2d(32)
        self.last = nn.Linear(32, classes)

    def forward(self, x):
        return self.last(torch.relu(self.norm(self.blocks(self.first(x)))).mean([2, 3]))
"""


def test_a_depth_that_leaves_no_rest_leaves_a_block(tmp_path: Path) -> None:
    """Four leaves no rest either, and a network without blocks: what is normalised then has other channels."""
    assert _solved(BLOCKS, tmp_path).arguments["depth"] in ("10", "16")


def test_a_row_of_words_is_asked_for_from_its_first_one_on(tmp_path: Path) -> None:
    text = HEAD + (
        "def layer(norm_name):\n    if norm_name == 'plain':\n        return nn.BatchNorm1d\n"
        "    elif norm_name in ('group', 'group_norm'):\n        return nn.GroupNorm\n"
        "    elif norm_name in ('none',):\n        return nn.Identity\n    else:\n"
        "        raise ValueError('no such layer')\n\n\nlayer('fast')\n"
    )
    file = tmp_path / "net.py"
    file.write_text(text)
    with pytest.raises(ValueError, match="no such layer") as caught:
        exec(compile(text, str(file), "exec"), {})
    first = demands(caught.value, ast.parse(text), str(file))[0]
    assert (first.name, first.value) == ("norm_name", "fast")
    assert first.wanted == ("'plain'", "'group'", "'group_norm'", "'none'")


@pytest.mark.parametrize("said", ["table.weight.shape[1]", "table.weight.size(1)", "table.weight.size()[-1]"])
def test_a_size_is_to_be_that_of_a_tensor_that_is_given(said: str) -> None:
    text = f"def check(size, table):\n    assert size == {said}, 'must match'\n"
    namespace: dict[str, Any] = {}
    exec(compile(text, "sized.py", "exec"), namespace)
    with pytest.raises(AssertionError) as caught:
        namespace["check"](128, nn.Embedding(10, 48))
    asked = demands(caught.value, ast.parse(text), "sized.py")
    assert ("size", 128, ("48",)) in [(d.name, d.value, d.wanted) for d in asked]
