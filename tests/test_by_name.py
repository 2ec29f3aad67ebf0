"""Definitions that configurations say by their dotted names, and classes made of those that they configure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from sources.cut.cutting import cut_package
from sources.hints.hints import Hints
from sources.text.bindings import parse
from sources.text.desugar import NAMED
from sources.text.symbols import Package
from sources.text.targets import Here
from tests.cuts import cut

MAKERS = {
    "rsplit": "def fetch(path, again=False):\n    module, name = path.rsplit('.', 1)\n    if again:\n"
    "        importlib.reload(importlib.import_module(module))\n"
    "    return getattr(importlib.import_module(module, package=None), name)\n",
    "in two": "def fetch(path):\n    *package, name = path.split('.')\n"
    "    module = importlib.import_module('.'.join(package))\n    return getattr(module, name)\n",
    "followed": "def fetch(path):\n    parts = path.split('.')\n    found = __import__(parts[0])\n"
    "    for part in parts[1:]:\n        found = getattr(found, part)\n    return found\n",
    "dunder": "def fetch(path):\n    package, name = path.rsplit('.', 1)\n"
    "    return getattr(__import__(package, fromlist=[name]), name)\n",
}
NET = """import torch.nn as nn
from tools import fetch


class Net(nn.Module):
    def __init__(self, part, extra=None):
        super().__init__()
        extra = extra or {"target": "lib.parts.Twice"}
        self.part = fetch(part["target"])(**part.get("params", {}))
        self.extra = fetch(extra["target"])()

    def forward(self, x):
        return self.extra(self.part(x))


class Further(Net):
    def __init__(self, part, size):
        super().__init__(part)
"""
PARTS = """import torch.nn as nn


class Line(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.line = nn.Linear(width, width)

    def forward(self, x):
        return self.line(x)


class Twice(nn.Module):
    def forward(self, x):
        return x * 2


class Unsaid(nn.Module):
    def forward(self, x):
        return x * 3
"""
CONFIG = "model:\n  target: net.Net\n  params:\n    part:\n      target: lib.parts.Line\n      params: {width: 8}\n"


@pytest.mark.parametrize("maker", MAKERS.values(), ids=list(MAKERS))
def test_what_is_imported_by_a_dotted_name_stands_in_the_task(maker: str, tmp_path: Path) -> None:
    files = {"net.py": NET, "lib/parts.py": PARTS, "tools.py": f"import importlib\n\n\n{maker}", "a.yaml": CONFIG}
    payload = {"files": files, "replacements": {}, "cut_points": {}, "part": 0, "parts": 1, "seed": 0, "enough": 9,
               "only": ["Net"]}  # fmt: skip
    (found,) = cut_package(payload, tmp_path)["cuts"]
    assert "class Unsaid" not in found["source"]
    assert f"{NAMED} = SimpleNamespace(Line=Line, Twice=Twice)" in found["source"]
    (site,) = found["told"]["sites"]
    namespace: dict[str, Any] = {}
    exec(found["source"], namespace)
    net = namespace["Net"](**{name: eval(text) for name, text in site["named"].items()})
    assert net(torch.ones(2, 8)).shape == (2, 8)


def test_a_literal_import_stays_as_it_is() -> None:
    text = "import importlib\ndef load(name):\n    return getattr(importlib.import_module('math'), name)\n"
    assert parse("a.py", text, lambda _: False).text == text


@pytest.mark.parametrize(
    "found", ["getattr(importlib.import_module(name), parts[0])", "__import__(name)\n    other = found"]
)
def test_parts_of_what_a_loop_is_in_are_followed_one_by_one(found: str) -> None:
    """Not only the last one: there may be none."""
    text = f"def load(name, parts, other):\n    found = {found}\n    for part in parts[1:]:\n        other = getattr(other, part)\n"
    assert "in parts[1:]:" in parse("a.py", text, lambda _: False).text


def test_a_class_that_no_configuration_names_is_configured_like_what_it_is_made_of() -> None:
    package = Package({"net.py": NET, "lib/parts.py": PARTS})
    (site,) = Hints(package, [CONFIG]).sites(Here("net.py", "Further"))
    assert site.spelled(lambda _: None)["named"] == {"part": "{'target': 'lib.parts.Line', 'params': {'width': 8}}"}


def test_a_module_that_a_try_imports_by_its_name_is_imported_as_any_other() -> None:
    text = (
        "from importlib import import_module\nimport torch.nn as nn\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        try:\n"
        "            found = import_module('flash_attn')\n            self.attend = getattr(found, 'flash_attn_func')\n"
        "        except ImportError:\n            self.attend = None\n\n"
        "    def forward(self, x):\n        return self.attend(x, x, x)\n"
    )
    space: dict[str, Any] = {"__name__": "task"}
    exec(cut({"a.py": text}, "a.py", "Net"), space)
    assert space["Net"]()(torch.ones(1, 3, 2, 4)).tolist() == torch.ones(1, 3, 2, 4).tolist()
