"""Sizes that Python 2 divided: ``planes / 4`` was a whole number, and is what a layer is to have."""

from __future__ import annotations

import ast
import re

from sources.text.rewrite import Edits, Text
from sources.text.scope import nodes

NOTE = "sizes are divided as Python 2 did, to whole numbers"
# What layers say of sizes that are none.
WANTED = re.compile(
    r"found element of type float|but got float|not float\b|'float' object cannot be interpreted as an integer"
)
_CONSTRUCTORS = re.compile(r"__init__|_?(make|build|create|add)_?\w*")


def divided(source: str) -> str:
    """The text with whole divisions by whole numbers in what constructs modules; the same text where it has none."""
    edits = Edits(Text.of(source))
    for function in nodes(ast.parse(source)):
        if isinstance(function, ast.FunctionDef) and _CONSTRUCTORS.fullmatch(function.name):
            for node in ast.walk(function):
                _divide(edits, node)
    return edits.parsed()


def _divide(edits: Edits, node: ast.AST) -> None:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
        return
    if isinstance(node.right, ast.Constant) and type(node.right.value) is not int:
        return
    start, end = edits.text.end(node.left), edits.text.start(node.right)
    between = edits.text.data[start:end].decode()
    edits.replace(start, end, between.replace("/", "//"))
