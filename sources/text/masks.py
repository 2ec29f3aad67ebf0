"""Masks as torch had them before 1.2: comparisons gave bytes, which could be subtracted; now they give truth values."""

from __future__ import annotations

import ast
import re

from sources.text.rewrite import Edits, Text
from sources.text.scope import nodes

NOTE = "masks are of truth values, as comparisons give them now"
# What operators say of masks of the wrong kind.
WANTED = re.compile(
    r"operator, (?:with|on) a bool tensor|Subtraction.*two bool tensors|only supports boolean masks|expected BoolTensor"
    r"|expected condition to be a boolean tensor"
)
_COMPARES = frozenset(["eq", "ne", "gt", "ge", "lt", "le", "byte", "bool", "isnan", "isinf", "any", "all"])
_MASK = re.compile(r"(?i)mask|\b(is_?)?(done|valid|pad|padding|terminal)s?\b")
_TYPES = {"uint8": "bool", "ByteTensor": "BoolTensor"}


def of_truth(source: str) -> str:
    """The text with masks of truth values, and ``1 - mask`` said as what is not masked; the same where it has none."""
    tree, edits = ast.parse(source), Edits(Text.of(source))
    compared = {n.id for s in nodes(tree) if isinstance(s, ast.Assign) and _compares(s.value)
                for t in s.targets for n in ast.walk(t) if isinstance(n, ast.Name)}  # fmt: skip
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and (new := _bytes(node)):
            edits.replace(edits.text.end(node) - len(node.attr), edits.text.end(node), new)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _is_one(node.left):
            if _compares(node.right) or _named(node.right, compared):
                _not(edits, node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _compares(node.operand):
            edits.replace(edits.text.start(node), edits.text.start(node) + 1, "-1 * ")
    return edits.parsed()


def _not(edits: Edits, node: ast.BinOp) -> None:
    """Say ``1 - mask`` as ``torch.logical_not(mask)``."""
    start, end = edits.text.start(node), edits.text.end(node)
    minus = edits.text.data.index(b"-", edits.text.end(node.left), edits.text.start(node.right))
    blanks = edits.text.data[minus + 1 : end]
    edits.replace(start, minus + 1 + len(blanks) - len(blanks.lstrip()), "torch.logical_not(")
    edits.replace(end, end, ")")


def _bytes(node: ast.Attribute) -> str:
    """What stands for the name of an attribute that makes bytes, or is their type; "" for others."""
    if node.attr == "byte":
        return "bool"
    return _TYPES.get(node.attr, "") if ast.unparse(node.value) == "torch" else ""


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == 1


def _compares(node: ast.expr) -> bool:
    """Whether an expression is a comparison, as far as its text tells, or several that are joined."""
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr | ast.Add | ast.Mult):
        return _compares(node.left) and _compares(node.right)
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Attribute) and (
        function.attr in _COMPARES or _compares(function.value) and function.attr in ("unsqueeze", "expand", "to")
    )


def _named(node: ast.expr, compared: set[str]) -> bool:
    """Whether a value's name says that it is a mask."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _named(node.func.value, compared)
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in compared or _MASK.search(name) is not None
