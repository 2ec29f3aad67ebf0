"""Parts that a program builds by functions of its settings, and what it takes by the name of a definition."""

from __future__ import annotations

import ast
from typing import Any

import torch

from sources.hints.guesses import values
from sources.hints.hints import Hints
from sources.hints.spelling import held_before
from sources.hints.uses import Uses, compared, uses
from sources.mine import replacements
from sources.text.symbols import Package
from sources.text.targets import Here
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


def test_words_are_told_by_the_function_that_a_name_is_handed_to() -> None:
    text = (
        "class Net:\n    def __init__(self, base):\n        self.kinds = {'slim': 1, 'wide': 2}\n"
        "        self.kind = self.chosen(base)\n\n    def chosen(self, name):\n        return self.kinds[name]\n"
    )
    assert compared(ast.parse(text))["base"] == ["slim", "wide"]


def test_words_are_those_of_the_function_that_a_name_is_handed_to_at_its_place() -> None:
    made = "class Net:\n    @classmethod\n    def made(cls, kind, width):\n        return KINDS[kind](width)\n\n"
    call = "    def build(self, base, other):\n        return self.made(base, other)\n"
    tables = "KINDS = {'slim': 1}\n\ndef emptied():\n    KINDS = []\n\n"
    assert compared(ast.parse(f"{tables}{made}{call}")) == {"kind": ["slim"], "base": ["slim"]}
    again = "class Other:\n    def made(self, other):\n        return other == 'wide'\n"
    assert "base" not in compared(ast.parse(f"{tables}{made}{call}{again}"))  # of two, whose call it is is not known


def test_a_comprehension_over_numbers_that_are_written_there_is_written_out() -> None:
    build = "\n\ndef build(args):\n    width = 64\n    return Net([width // 2 ** (3 - i) for i in {}])\n"
    for steps, line in {"range(4)": "[8, 16, 32, 64]", "[1, 3]": "[16, 64]", "args.steps": "[16, 16]"}.items():
        known = "def settings(step=1):\n    return step\n"
        text = HEAD + LINE + build.format(steps).replace("i)", "1)" if "args" in steps else "i)") + known
        sites = Hints(Package({"net.py": text})).sites(Here("net.py", "Net"))
        assert [line] in [site.spelled(lambda target: None)["positional"] for site in sites]


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


DEEP = """
import torchvision.models as models


class Net(models.ResNet):
    def __init__(self, block, layers, images=1):
        super().__init__(block, layers)
        self.conv1 = nn.Conv2d(3 * images, 64, 7, 2, 3, bias=False)


def net(depth, images=1):
    layers = {18: [2, 2, 2, 2], 50: [3, 4, 6, 3]}[depth]
    block = {18: models.resnet.BasicBlock, 50: models.resnet.Bottleneck}[depth]
    return Net(block, layers, images=images)
"""


def test_of_a_table_that_is_written_where_it_is_looked_into_the_first_entry_is_taken() -> None:
    site = Hints(Package({"net.py": HEAD + DEEP}, replacements())).sites(Here("net.py", "Net"))[0]
    assert site.spelled(lambda target: getattr(target, "name", None))["positional"] == ["BasicBlock", "[2, 2, 2, 2]"]


def test_of_branches_a_variable_holds_what_the_first_gives_it() -> None:
    text = """
def build(args):
    width = 1
    width = 2
    if args.deep:
        line = Deep(width)
    elif args.wide:
        line = Wide(width)
    else:
        line = None
    return line
"""
    held = held_before(ast.parse(text).body[0], 99)
    assert {name: ast.unparse(value) for name, value in held.items()} == {"width": "2", "line": "Deep(width)"}


BRANCHES = """
class Plain(nn.Module):
    expansion = 1

    def __init__(self, channels):
        super().__init__()
        self.line = nn.Linear(channels, channels)

    def forward(self, x):
        return self.line(x)


class Settings:
    expansion = 4


class Branches(nn.Module):
    def __init__(self, count, blocks, widths):
        super().__init__()
        self.parts = self._make(count, blocks, widths)

    def _make(self, count, block, widths):
        return nn.ModuleList([self._one(kind=block, width=w * block.expansion) for w in widths])

    def _one(self, kind, width):
        return kind(width)

    def forward(self, x):
        return [part(x) for part in self.parts]


table = {"PLAIN": Plain}
"""


def test_a_class_is_given_where_layers_are_made_with_it_and_what_it_says_of_itself_is_read() -> None:
    package = Package({"a/net.py": HEAD + BRANCHES, "b/far.py": f"{HEAD}class Far(nn.Module):\n    expansion = 2\n"})
    site = Hints(package).sites(Here("a/net.py", "Branches"))[0]
    assert site.spelled(lambda target: target.name)["named"] == {"blocks": "Plain"}


def test_counts_that_are_listed_are_counts() -> None:
    assert values("num_blocks", "", Uses(listed=True))[0] == "[2, 2]"
    assert values("num_downs", "", Uses())[0] == "2"


def test_a_shape_of_which_the_second_size_is_taken_is_of_a_batch() -> None:
    net = (
        "class Net(nn.Module):\n    def __init__(self, in_shape):\n        self.line = nn.Conv2d(in_shape[{}], 8, 1)\n"
    )
    kinds = [n for i in (0, 1) for n in ast.parse(net.format(i)).body if isinstance(n, ast.ClassDef)]
    first = [values("in_shape", "", uses(kind)["in_shape"])[0] for kind in kinds]
    assert first == ["(3, 64, 64)", "(4, 64, 32, 32)"]
