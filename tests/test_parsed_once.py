"""Reading a file: what no rewrite changes is parsed once, and classes are found among its statements alone."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from sources.text import bindings
from sources.text.scope import classes, walk

TAKES_MORE = "class Net(nn.Module):\n    def forward(self, x, **more):\n        return x\n\n\nnn.Other = make(Net)\n"
NESTED = """
class First:
    class Inner: ...
    def make(self):
        class Made: ...
if found:
    class Second: ...
else:
    class Third: ...
try:
    class Fourth: ...
except ImportError:
    class Fifth: ...
finally:
    class Sixth: ...
match kind:
    case 1:
        class Seventh: ...
with held, (lambda: 1)():
    class Last: ...
"""


def test_what_no_rewrite_changes_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed, parse = list[str](), ast.parse

    def counted(text: str, *given: Any, **named: Any) -> ast.AST:
        parsed.append(text)
        return parse(text, *given, **named)

    monkeypatch.setattr(ast, "parse", counted)
    assert bindings.parse("net.py", TAKES_MORE, lambda _: False).text == TAKES_MORE
    assert parsed == [TAKES_MORE]


def test_classes_come_as_a_walk_comes_to_them() -> None:
    tree = ast.parse(NESTED)
    assert len(classes(tree)) == 10
    assert classes(tree) == [n for n in walk(tree) if isinstance(n, ast.ClassDef)]
