"""Cutting: what a task holds of its package, and what is refused."""

from __future__ import annotations

import pytest

from sources.mine import replacements
from sources.modules import candidates
from sources.slicer import SliceError, Slicer
from sources.symbols import Package
from sources.writer import cut as write_cut

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def cut(texts: dict[str, str], path: str, symbol: str) -> str:
    return write_cut(Slicer(Package(texts, replacements())), path, symbol).source


PACKAGE = {
    "net/__init__.py": "from .layers import *\n",
    "net/layers/__init__.py": "from .norm import RMSNorm\nfrom . import act\n__all__ = ['RMSNorm', 'act']\n",
    "net/layers/norm.py": HEAD + "EPS = 1e-6  # guards the root\n\n\nclass RMSNorm(nn.Module):\n"
    "    def __init__(self, dim, eps=EPS):\n        super().__init__()\n        self.eps = eps\n"
    "        self.weight = nn.Parameter(torch.ones(dim))\n\n    def unused(self):\n        return os.getcwd()\n\n"
    "    def forward(self, x):\n        # root of the mean square\n"
    "        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight\n",
    "net/layers/act.py": HEAD + "def swish(x):\n    return x * torch.sigmoid(x)\n",
    "net/block.py": HEAD + "from net import layers\nfrom net.layers import RMSNorm\nfrom .registry import register\n"
    "from absent_package import thing\n\n\n@register('block')\nclass Block(nn.Module):\n"
    "    def __init__(self, dim, hidden_dim):\n        super().__init__()\n        print('made')\n"
    "        self.norm = RMSNorm(dim)\n        self.up = nn.Linear(dim, hidden_dim)\n"
    "        self.down = nn.Linear(hidden_dim, dim)\n\n    def forward(self, x: 'Strange') -> 'Stranger':\n"
    "        return x + self.down(layers.act.swish(self.up(self.norm(x))))\n\n\n"
    "class Lost(nn.Module):\n    def forward(self, x):\n        return thing(x)\n",
    "net/registry.py": "def register(name):\n    return lambda x: x\n",
}


def test_a_cut_holds_what_it_needs_and_no_more() -> None:
    source = cut(PACKAGE, "net/block.py", "Block")
    assert "# guards the root" in source
    assert "# root of the mean square" in source
    assert "def swish" in source
    for gone in (
        "unused",
        "print",
        "register",
        "Strange",
        "absent_package",
        "layers.act",
        "import torch.nn.functional",
    ):
        assert gone not in source
    namespace: dict[str, object] = {}
    exec(compile(source, "cut", "exec"), namespace)
    assert "Block" in namespace


def test_an_unused_method_at_the_end_is_left_out() -> None:
    text = (
        HEAD
        + "class M(nn.Module):\n    def forward(self, x):\n        return x.relu()\n\n    def last(self) -> Absent:\n        pass\n"
    )
    source = cut({"m.py": text}, "m.py", "M")
    assert "last" not in source
    assert source.endswith("return x.relu()\n")


def test_equal_names_of_two_files_are_told_apart() -> None:
    texts = {
        "a.py": "def scale(x):\n    return x * 2\n",
        "b.py": "import a\ndef scale(x):\n    return a.scale(x) + 1\n",
        "c.py": "from b import scale\ndef both(x):\n    return scale(x)\n",
    }
    namespace: dict[str, object] = {}
    exec(compile(cut(texts, "c.py", "both"), "cut", "exec"), namespace)
    assert namespace["both"](3) == 7  # type: ignore[operator]


def test_definitions_that_mention_each_other_come_in_an_order_that_executes() -> None:
    text = HEAD + (
        "class Loss(nn.Module):\n    def __add__(self, other):\n        return Sum(self, other)\n"
        "class Sum(Loss):\n    pass\n"
        "class L1(Loss):\n    def forward(self, x, y):\n        return (x - y).abs().mean()\n"
    )
    exec(compile(cut({"m.py": text}, "m.py", "L1"), "cut", "exec"), {})


def test_what_is_computed_from_the_absent_is_absent() -> None:
    text = HEAD + (
        "import os\nfrom absent import Mixin, load\nHERE = os.path.dirname(__file__)\nKERNEL = load(HERE)\n"
        "class M(nn.Module, Mixin):\n    def forward(self, x):\n        return KERNEL(x) if x.is_cuda else x.relu()\n"
    )
    source = cut({"m.py": text}, "m.py", "M")
    assert "KERNEL = None" in source
    assert "class Mixin:\n    pass" in source
    exec(compile(source, "cut", "exec"), {})


def test_ugly_files_are_read_or_refused() -> None:
    texts = {
        "circle_a.py": "from circle_b import *\nfrom circle_b import x\n",
        "circle_b.py": "from circle_a import *\nfrom circle_a import x\n",
        "shadow.py": "import torch.nn as nn\ntorch = 1\nclass M(nn.Module):\n    def forward(self, x):\n        return x * torch\n",
        "torch.py": "x = 1\n",
        "two.py": "print 'python 2'\n",
        "broken.py": "class :\n",
        "deep.py": "x = " + "(" * 3000 + ")" * 3000 + "\n",
        "long.py": "x = 1\n" * 50_000,
        "uses.py": "from circle_a import x\nimport torch.nn as nn\nclass U(nn.Module):\n    def forward(self, y):\n        return x\n",
    }
    package = Package(texts)
    found = {c.symbol for c in candidates(package)}
    assert {"M", "U"} <= found
    for path in texts:
        package.file(path)
    assert set(package.broken) == {"two.py", "broken.py", "deep.py"}
    assert "# circle_a.x is not here and not needed\nx = None\n" in write_cut(Slicer(package), "uses.py", "U").source


def test_a_type_hint_in_parentheses_goes_whole() -> None:
    text = HEAD + (
        "class Shape:\n    pass\n\n\nclass Scale(nn.Module):\n"
        "    def forward(self, x, by: (Shape | None) = None) -> (Shape):\n"
        "        kept: ((Shape | None)) = by\n        return x * 2 if kept is None else x\n"
    )
    source = cut({"n.py": text}, "n.py", "Scale")
    assert "def forward(self, x, by = None):\n        kept = by\n" in source
    compile(source, "cut", "exec")


def test_dead_branches_of_absent_packages_are_left_out() -> None:
    text = HEAD + (
        "try:\n    from apex import fused\n    HAS_APEX = True\nexcept ImportError:\n    HAS_APEX = False\n"
        "def norm(x):\n    if HAS_APEX:\n        return fused(x)\n    return F.normalize(x)\n"
    )
    assert "fused" not in cut({"n.py": text}, "n.py", "norm")


def test_a_base_class_that_is_absent_is_a_reason() -> None:
    with pytest.raises(SliceError) as error:
        cut({"m.py": HEAD + "from absent import Base\nclass M(Base):\n    pass\n"}, "m.py", "M")
    assert error.value.reason == "needs a package that is absent"
