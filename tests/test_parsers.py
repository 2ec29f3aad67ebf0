"""Values of an argument parser that another file makes, and arguments that a script computes of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from flows.mine_source import mined
from sources.cut.pruning import pruned
from sources.hints.hints import Hints
from sources.text.parsers import without_arguments
from sources.text.symbols import Package

OPTIONS = """import argparse


def parse_args():
    parser = argparse.ArgumentParser(description="Training")
    group = parser.add_argument_group("model")
    group.add_argument("--widths", default="3,5")
    group.add_argument("--causal", action="store_true")
    parser.add_argument("--resume")
    args = parser.parse_args()
    if args.resume and args.causal:
        exit()
    return args
"""
NET = """import torch.nn as nn


class Net(nn.Module):
    def __init__(self, widths, causal):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.causal = causal

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x.cumsum(0) if self.causal else x
"""
RUN = """from common.options import parse_args
from common.net import Net

args = parse_args()
widths = [int(w) for w in args.widths.split(",")]
model = Net(widths, args.causal)
"""


def test_a_function_returns_its_parsers_defaults() -> None:
    text = without_arguments(OPTIONS, ast.parse(OPTIONS))
    assert "    args = SimpleNamespace(widths='3,5', causal=False, resume=None)\n    if args.resume" in text
    assert "add_argument" not in text
    assert without_arguments(RUN, ast.parse(RUN)) == RUN


@pytest.mark.parametrize(
    ("takes", "said"),
    [
        ("    return parser.parse_args()", "    return SimpleNamespace(n=4)"),
        ("    args, rest = parser.parse_known_args()\n    return args", "    args = SimpleNamespace(n=4)"),
        ("    return parser.parse_known_args()", "parser.add_argument"),
    ],
)
def test_values_are_taken_in_other_ways(takes: str, said: str) -> None:
    text = f"def options():\n    parser = Parser()\n    parser.add_argument('-n', type=int, default=4)\n{takes}\n"
    assert said in without_arguments(text, ast.parse(text))


def test_arguments_that_a_script_computes_are_said_as_values(tmp_path: Path) -> None:
    for name, text in {"common/options.py": OPTIONS, "common/net.py": NET, "run.py": RUN}.items():
        path = tmp_path / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    ((task,),) = (m.tasks for m in mined([str(tmp_path / "repo")], str(tmp_path / "out"), None, 0, 1, 25, True))
    assert "parse_args" not in task.source and "SimpleNamespace" not in task.source
    assert "False]" in task.source and task.source.count(" = 3\n") == 1  # its first width


def test_imports_that_only_what_is_left_out_needs_are_left_out() -> None:
    source = (
        "import torch\nimport math\nfrom types import SimpleNamespace as Space\n\n\ndef spare():\n    return Space()\n"
    )
    text = pruned(source + "\n\ndef root(x):\n    return math.sqrt(x)\n", ["root"])
    assert "Space" not in text and "import math" in text and "import torch" in text


@pytest.mark.parametrize(
    ("default", "read", "known"),
    [
        ("'[4, 4]'", "eval(opt.window)", "[4, 4]"),
        ("'3,5'", "[int(w) for w in opt.window.split(',')]", "[3, 5]"),
        ("'0.5 1'", "list(map(float, opt.window.split()))", "[0.5, 1.0]"),
        ("'wide'", "eval(opt.window)", "'wide'"),  # the name of a function
        ("'3,5'", "opt.window.split(',')", "'3,5'"),
    ],
)
def test_what_is_read_out_of_an_option_is_its_value(default: str, read: str, known: str) -> None:
    text = (
        f"parser.add_argument('-window', type=str, default={default})\nopt = parser.parse_args()\nopt.window = {read}"
    )
    assert Hints(Package({"run.py": text})).defaults(["window"]) == {"window": known}
