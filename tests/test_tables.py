"""Classes that are found by bases of other files, and tables of classes that are merged into one."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import torch

from sources.cut import slicer
from sources.cut.cutting import cut_package
from sources.cut.modules import candidates, shape
from sources.text.symbols import Package

LOSS = """from torch.nn.modules.loss import _Loss, _WeightedLoss


class Mean(_Loss):
    def forward(self, x, y):
        return (x - y).abs().mean()


class Bare(_WeightedLoss):
    pass
"""
ENCODER = """import torch.nn as nn
from copy import deepcopy
from zoo import pretrained_settings

pretrained_settings = deepcopy(pretrained_settings)


class {0}(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.line = nn.Linear(width, width)

    def forward(self, x):
        return self.line(x)


{1} = {{"{2}": {{"encoder": {0}, "settings": pretrained_settings["{2}"], "params": {{"width": 8}}}}}}
"""
FILES = {
    "lib/__init__.py": "",
    "lib/encoders/__init__.py": "from .one import ones\nfrom .other import others\n\nencoders = {}\n"
    "encoders.update(ones)\nencoders.update(others)\n\n\n"
    "def get(name):\n    return encoders[name]['encoder'](**encoders[name]['params'])\n",
    "lib/encoders/one.py": ENCODER.format("One", "ones", "resnet9"),
    "lib/encoders/other.py": ENCODER.format("Other", "others", "vgg9"),
    "lib/net.py": "import torch.nn as nn\nfrom .encoders import get\n\n\nclass Net(nn.Module):\n"
    "    def __init__(self, encoder='resnet9'):\n        super().__init__()\n        self.encoder = get(encoder)\n\n"
    "    def forward(self, x):\n        return self.encoder(x)\n",
    "lib/layers.py": "import torch.nn as nn\n\n\nclass Block(nn.Module):\n    def __init__(self, width):\n"
    "        super().__init__()\n        self.line = nn.Linear(width, width)\n\n"
    "    def forward(self, x):\n        return self.line(x)\n",
    "lib/hiding.py": "import functools\nimport torch.nn as nn\nfrom . import layers\n\n\nclass Hiding(nn.Module):\n"
    "    def __init__(self):\n        super().__init__()\n        Block = functools.partial(layers.Block, width=8)\n"
    "        self.block = Block()\n\n    def forward(self, x):\n        return self.block(x)\n",
}


def made(name: str, folder: Path) -> tuple[str, torch.nn.Module]:
    payload = {"files": FILES, "replacements": {}, "cut_points": {}, "part": 0, "parts": 1, "seed": 0, "enough": 9,
               "only": [name]}  # fmt: skip
    (found,) = cut_package(payload, folder)["cuts"]
    namespace: dict[str, Any] = {}
    exec(found["source"], namespace)
    return found["source"], namespace[name]()


def test_a_base_may_be_torchs_underscored_one_or_another_files() -> None:
    texts = {"lib/loss.py": LOSS, "lib/derived.py": "from .loss import Mean\n\n\nclass Halved(Mean):\n    scale = 2\n"}
    found = {c.symbol: c.refused for c in candidates(Package(texts))}
    assert found == {"Mean": "", "Bare": "no forward", "Halved": ""}


@pytest.mark.parametrize("most", [300, 6])
def test_tables_that_are_merged_are_taken_as_far_as_they_are_named(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slicer, "MAX_PIECES", most)
    source, net = made("Net", tmp_path)
    assert ("class Other" in source) == (most == 300)
    assert net(torch.ones(2, 8)).shape == (2, 8)


def test_a_function_may_hide_what_it_takes_out_of_a_module(tmp_path: Path) -> None:
    assert made("Hiding", tmp_path)[1](torch.ones(2, 8)).shape == (2, 8)


def test_classes_that_are_named_like_their_bases_are_no_duplicates() -> None:
    bodies = ["class A(nn.A): pass", "class B(nn.B): pass", "class C(D):\n    def f(self):\n        super(C, self).f()",
              "class E(D):\n    def f(self):\n        super(E, self).f()"]  # fmt: skip
    a, b, c, e = (shape(node) for text in bodies if isinstance(node := ast.parse(text).body[0], ast.ClassDef))
    assert a != b and c == e
