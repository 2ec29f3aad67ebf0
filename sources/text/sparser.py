"""Networks of point clouds whose own text says how many points they sample, one after another: with fewer of these."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sources.text.rewrite import Edits, Text
from sources.text.scope import nodes

NOTE = "it samples fewer points, and neighbours of each, than its text says: it has too many operators"
LEAST = 4  # points are interpolated between three
_COUNTS = re.compile(r"n(um)?_?(points?|samples?|cent(er|roid)s?|neighbou?rs?)(_list)?")


def sparser(source: str, times: int) -> str:
    """The text with so many times fewer of what calls in it sample; the same text where none says a number."""
    tree = ast.parse(source)
    takes = dict(_parameters(tree))
    edits = Edits(Text.of(source))
    for call in (n for n in nodes(tree) if isinstance(n, ast.Call)):
        names = takes.get(ast.unparse(call.func), [])
        given = [*zip(names, call.args, strict=False), *((k.arg or "", k.value) for k in call.keywords)]
        for node, number in (n for name, value in given if _COUNTS.fullmatch(name) for n in _numbers(value)):
            edits.replace(edits.text.start(node), edits.text.end(node), str(max(LEAST, number // times)))
    return edits.whole()


def _parameters(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """What the functions of a text, and the constructors of its classes, call their arguments."""
    for node in tree.body:
        inside = [s for s in node.body if isinstance(s, ast.FunctionDef)] if isinstance(node, ast.ClassDef) else [node]
        for made in inside:
            if isinstance(made, ast.FunctionDef) and (made is node or made.name == "__init__"):
                names = [a.arg for a in made.args.args]
                yield getattr(node, "name", ""), names if made is node else names[1:]


def _numbers(value: ast.expr) -> Iterator[tuple[ast.Constant, int]]:
    """The counts that an expression writes out: one, or a list of them."""
    for node in value.elts if isinstance(value, ast.List | ast.Tuple) else [value]:
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value > LEAST:
            yield node, node.value
