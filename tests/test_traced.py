"""Mining student repositories: where a wrong argument came from, and what older or absent things meant."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import torch

from sources.cut.slicer import Slicer
from sources.cut.writer import cut as write_cut
from sources.infer.blamed import blamed
from sources.infer.given import LEFT_OUT, given
from sources.infer.inputs import Tensor
from sources.infer.search import Solution, solve
from sources.mine import replacements
from sources.probe import load
from sources.text.symbols import Package

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
GRAPH = (
    HEAD
    + """class Mixed(nn.Module):
    def __init__(self, order, polynomials, inner):
        super().__init__()
        self.order, self.polynomials = order, polynomials
        self.device = polynomials[0].device
        self.linear = nn.Linear(64, inner)

    def forward(self, x):
        return sum(self.linear(self.polynomials[k].matmul(x)) for k in range(self.order))


class Net(nn.Module):
    def __init__(self, width, hidden, settings, graphs, K):
        super().__init__()
        found = graphs
        self.blocks = nn.ModuleList([Mixed(K, found, inner=settings.hidden) for _ in range(2)])
        self.last = nn.Linear(width, hidden)

    def forward(self, x):
        return self.last(self.blocks[0](x) + self.blocks[1](x))
"""
)


def text_of(texts: dict[str, str], path: str, symbol: str) -> str:
    return write_cut(Slicer(Package(texts, replacements())), path, symbol).source


def cause(namespace: dict[str, Any], tmp_path: Path, **arguments: Any) -> set[str]:
    file = str(next(tmp_path.glob("cut_*.py")))
    try:
        namespace["Net"](**arguments)
    except Exception as error:  # whichever it is, it is what the test is about
        return blamed(error, ast.parse(GRAPH), file)
    return set()


def test_a_wrong_value_is_followed_out_to_the_constructor(tmp_path: Path) -> None:
    namespace = load(GRAPH, tmp_path)

    class Settings:
        hidden = "64"

    right = {"width": 64, "hidden": 64, "settings": Settings, "graphs": [torch.ones(64, 64)] * 3, "K": 3}
    assert cause(namespace, tmp_path, **{**right, "graphs": 64}) == {"graphs"}
    assert cause(namespace, tmp_path, **{**right, "graphs": [64]}) == {"graphs"}
    assert cause(namespace, tmp_path, **right) == {"settings.hidden"}


def test_a_list_of_matrices_is_given_where_tensors_are_taken_out_of_a_list(tmp_path: Path) -> None:
    namespace = load(GRAPH, tmp_path)
    solution = solve(namespace["Net"], namespace, GRAPH)
    assert isinstance(solution, Solution), solution
    assert solution.arguments["graphs"].startswith("[torch.rand(64, 64)")


def test_an_absolute_import_goes_past_a_module_that_lacks_the_name() -> None:
    texts = {
        "utils.py": "def double(x):\n    return x * 2\n",
        "models/utils/__init__.py": "def triple(x):\n    return x * 3\n",
        "models/net.py": HEAD + "from utils import double, triple\n\n\nclass Net(nn.Module):\n"
        "    def forward(self, x):\n        return double(triple(x))\n",
    }
    namespace: dict[str, Any] = {}
    exec(compile(text_of(texts, "models/net.py", "Net"), "cut", "exec"), namespace)
    assert torch.equal(namespace["Net"]()(torch.ones(2)), torch.full((2,), 6.0))


def test_a_statement_that_only_touches_the_system_is_left_out() -> None:
    text = HEAD + (
        "import sys\nimport numpy as np\nfrom pathlib import Path\n\n\n"
        "def set_up():\n    sys.stdout.write('ready')\n\n\n"
        "class Net(nn.Module):\n    path = Path(__file__).parent / 'weights'\n\n"
        "    def __init__(self):\n        super().__init__()\n        set_up()\n"
        "        self.scale = np.array([1.0], dtype=np.float)\n\n"
        "    def forward(self, x):\n        return x * float(self.scale[0]) + np.infty * 0.0\n"
    )
    source = text_of({"net.py": text}, "net.py", "Net")
    namespace: dict[str, Any] = {}
    exec(compile(source, "cut", "exec"), namespace)  # where no __file__ is known
    assert namespace["Net"]().scale.dtype == "float64"
    assert "set_up" not in source
    assert "np.inf *" in source


@pytest.mark.parametrize("dropout", ["F.dropout(layer(x), p=0.5, training=True)", "F.dropout(layer(x))"])
def test_dropout_in_a_loop_that_is_always_on_is_left_out(dropout: str, tmp_path: Path) -> None:
    source = HEAD + (
        "class Prenet(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(3)])\n\n"
        f"    def forward(self, x):\n        for layer in self.layers:\n            x = {dropout}\n        return x\n"
    )
    cut = {"source": source, "name": "Prenet", "header": []}
    solution = Solution({}, (Tensor((4, 6)),))
    changed, own, same = given(cut, load(source, tmp_path), solution, lambda text: load(text, tmp_path))
    assert changed["header"] == [LEFT_OUT]
    assert same == solution
    net, x = own["Prenet"]().eval(), torch.randn(4, 6)
    assert torch.equal(net(x), net(x))


def test_loops_that_draw_noise_stay(tmp_path: Path) -> None:
    source = HEAD + (
        "class Noisy(nn.Module):\n    def forward(self, x):\n        for _ in range(2):\n"
        "            x = F.dropout(x + torch.randn_like(x))\n        return x\n"
    )
    cut = {"source": source, "name": "Noisy", "header": []}
    changed, _, _ = given(cut, load(source, tmp_path), Solution({}, (Tensor((4, 6)),)), lambda t: load(t, tmp_path))
    assert changed is cut
