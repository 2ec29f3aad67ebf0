"""Parts that a program builds by functions of its settings, and what it takes by the name of a definition."""

from __future__ import annotations

import ast
from typing import Any

import torch

from sources.hints.guesses import compared
from sources.hints.hints import Hints
from sources.text.symbols import Here, Package
from tests.cuts import HEAD, cut

LINE = """

class Line(nn.Module):
    def __init__(self, name, trained, deep=False):
        super().__init__()
        self.line = nn.Linear({"narrow": 8, "wide": 16}[name], 8)

    def forward(self, x):
        return self.line(x)


class Net(nn.Module):
    def __init__(self, line):
        super().__init__()
        self.line = line

    def forward(self, x):
        return self.line(x)


def build_line(args):
    trained = args.lr_line > 0
    line = Line(args.line, trained, args.deep or args.levels > 1)
    return line


def build(args):
    line = build_line(args)
    return Net(line)
"""
MAIN = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--line", default="wide")
parser.add_argument("--lr_line", default=1e-5, type=float)
parser.add_argument("--deep", action="store_true")
parser.add_argument("--levels", default=4, type=int)
"""


def test_what_a_function_of_settings_answers_is_spelled_as_it_makes_that() -> None:
    package = Package({"net.py": HEAD + LINE, "main.py": MAIN})
    site = Hints(package).sites(Here("net.py", "Net"))[0]
    (line,) = site.spelled(lambda target: getattr(target, "name", None))["positional"]
    assert line == "Line('wide', 1e-05 > 0, False or 4 > 1)"


def test_a_name_that_is_looked_up_in_a_table_is_one_of_its_words() -> None:
    assert compared(ast.parse("TABLE = {'a': 1, 'b': 2}\ndef f(name):\n    return TABLE[name]\n")) == {
        "name": ["a", "b"]
    }


def test_what_a_script_built_is_not_looked_up_by_name() -> None:
    net = """
class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        kind = eval(kind) if isinstance(kind, str) else kind
        self.model = kind(4, 4)

    def forward(self, x):
        return self.model(x)


class Twice(nn.Linear):
    pass


def build():
    return Net("Twice")


if __name__ == "__main__":
    model = build()
"""
    text = cut({"net.py": f"{HEAD}{net}"}, "net.py", "Net")
    space: dict[str, Any] = {}
    exec(text, space)
    assert "build" not in text
    assert space["Net"](torch.nn.Linear)(torch.ones(2, 4)).shape == (2, 4)
