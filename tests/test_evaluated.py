"""What is taken by name through ``eval``, and is said without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from sources.cut.cutting import cut_package
from sources.text.bindings import parse

NET = """import torch.nn as nn


class Twice(nn.Module):
    def forward(self, x):
        return x * 2


class Net(nn.Module):
    def __init__(self, kind="Twice", depth=3):
        super().__init__()
        for i in range(depth):
            setattr(self, f"step{i}", eval(kind)())
        self.depth = depth

    def forward(self, x):
        for i in range(self.depth):
            x = eval("self.step" + str(i))(x)
        return x
"""


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("eval('self.conv' + str(i))(x)", "getattr(self, 'conv' + str(i))(x)"),
        ("eval('self.conv{}'.format(i))(x)", "getattr(self, 'conv{}'.format(i))(x)"),
        ("eval('self.conv%d_%d' % (i, j))", "getattr(self, 'conv%d_%d' % (i, j))"),
        ("eval(f'self.a.conv{i}[0]')", "getattr(self.a, f'conv{i}')[0]"),
        ("eval('net.layer' + str(i) + '[:-1]')", "getattr(net, 'layer' + str(i))[:-1]"),
        ("eval('self.' + name + '.weight')", "getattr(self, name).weight"),
        ("eval('self.encoder.layer1')", "(self.encoder.layer1)"),
        ("eval(options.kind)(3)", "globals()[options.kind](3)"),
        ("eval(kind + 'Block')(3)", "globals()[kind + 'Block'](3)"),
    ],
)
def test_names_that_are_evaluated_are_looked_up(said: str, plain: str) -> None:
    assert parse("a.py", said, lambda _: False).text == plain


@pytest.mark.parametrize(
    "said", ["eval('dict({})'.format(v))", "eval('lambda x: ' + text)", "eval(str(n))", "eval('[' + s + ']')",
             "eval('a[%s]' % r)", "eval(kind, {})", "model.eval()"]
)  # fmt: skip
def test_other_expressions_stay_as_they_are(said: str) -> None:
    assert parse("a.py", said, lambda _: False).text == said


def test_a_class_that_evaluates_names_becomes_a_task(tmp_path: Path) -> None:
    payload = {"files": {"net.py": NET}, "replacements": {}, "cut_points": {}, "part": 0, "parts": 1, "seed": 0,
               "enough": 9, "only": ["Net"]}  # fmt: skip
    (found,) = cut_package(payload, tmp_path)["cuts"]
    namespace: dict[str, Any] = {}
    exec(found["source"], namespace)
    assert namespace["Net"]()(torch.ones(2)).tolist() == [8.0, 8.0]


def test_a_word_may_spell_numbers_or_a_definition(tmp_path: Path) -> None:
    net = (
        "import torch\nimport torch.nn as nn\n\n\ndef twice(x):\n    return 2 * x\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self, sizes='[3, 4]', scale='twice'):\n        super().__init__()\n"
        "        self.sizes, self.scale = eval(sizes), eval(scale)\n\n"
        "    def forward(self, x):\n        return self.scale(x) + self.sizes[-1]\n"
    )
    payload = {"files": {"net.py": net}, "replacements": {}, "cut_points": {}, "part": 0, "parts": 1, "seed": 0,
               "enough": 9, "only": ["Net"]}  # fmt: skip
    (found,) = cut_package(payload, tmp_path)["cuts"]
    namespace: dict[str, Any] = {}
    exec(found["source"], namespace)
    assert namespace["Net"]()(torch.ones(1)).tolist() == [6.0]


def test_a_call_that_a_word_spells_is_made(tmp_path: Path) -> None:
    utils = (
        "import torch\nfrom torch import nn\nfrom functools import partial\n\n\n"
        "def initializer_of(given):\n    try:\n        return eval(given)\n"
        "    except Exception:\n        raise ValueError(given)\n"
    )
    net = (
        "import torch\nfrom torch import nn\nfrom utils import initializer_of\n\n\n"
        "class Net(nn.Module):\n    def __init__(self, init='partial(nn.init.constant_, val=0.5)'):\n"
        "        super().__init__()\n        self.line = nn.Linear(4, 1, bias=False)\n"
        "        initializer_of(init)(self.line.weight)\n\n"
        "    def forward(self, x):\n        return self.line(x)\n"
    )
    payload = {"files": {"net.py": net, "utils.py": utils}, "replacements": {}, "cut_points": {}, "part": 0, "parts": 1,
               "seed": 0, "enough": 9, "only": ["Net"]}  # fmt: skip
    (found,) = cut_package(payload, tmp_path)["cuts"]
    namespace: dict[str, Any] = {}
    exec(found["source"], namespace)
    assert namespace["Net"]()(torch.ones(1, 4)).tolist() == [[2.0]]


@pytest.mark.parametrize("said", ["name + '%dd' % 2", "f'{name}{2}d'"])
def test_what_begins_with_a_variable_may_be_a_dotted_name(said: str, tmp_path: Path) -> None:
    net = (
        "import torch.nn as nn\n\n\nclass OwnConv2d(nn.Conv2d):\n    pass\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self, own=False):\n        super().__init__()\n        name = 'OwnConv' if own else 'nn.Conv'\n"
        f"        self.layer = eval({said})(3, 8, 1)\n\n    def forward(self, x):\n        return self.layer(x)\n"
    )
    payload = {"files": {"net.py": net}, "replacements": {}, "cut_points": {}, "part": 0, "parts": 1, "seed": 0,
               "enough": 9, "only": ["Net"]}  # fmt: skip
    (found,) = cut_package(payload, tmp_path)["cuts"]
    namespace: dict[str, Any] = {}
    exec(found["source"], namespace)
    assert type(namespace["Net"]().layer) is torch.nn.Conv2d
    assert type(namespace["Net"](own=True).layer) is namespace["OwnConv2d"]
