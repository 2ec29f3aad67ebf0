"""What simple expressions of a program were when it failed, and what they are called: nothing is called for that."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import Any

_COMPUTED = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
MISSING = object()  # of what is not known


def named(node: ast.expr) -> str:
    """What something is called: the last part of a dotted name, the key of an item, what a method is called on."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    if isinstance(node, ast.Call):
        inner = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0] if node.args else node
        return named(inner) if inner is not node else ""
    return node.id if isinstance(node, ast.Name) else ""


def value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """What a simple expression was when the program failed: nothing of the program is called for it."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return values.get(node.id, MISSING)
    if isinstance(node, ast.Attribute):
        owner = value(node.value, values)
        return MISSING if owner is MISSING else getattr(owner, "__dict__", {}).get(node.attr, MISSING)
    if isinstance(node, ast.Subscript):
        owner, key = value(node.value, values), value(node.slice, values)
        inside = isinstance(owner, list | tuple) and type(key) is int and -len(owner) <= key < len(owner)
        return owner[key] if inside else MISSING
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        items = [value(e, values) for e in node.elts]
        return MISSING if any(i is MISSING for i in items) else items
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "keys":
        return value(node.func.value, values)
    if is_length(node) and isinstance(node, ast.Call):
        inner = value(node.args[0], values)
        return len(inner) if isinstance(inner, list | tuple | dict | str) else MISSING
    if isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        sides = value(node.left, values), value(node.right, values)
        if all(type(s) in (int, float) for s in sides):
            return _COMPUTED[type(node.op)](*sides)
    return MISSING


def is_length(node: ast.expr) -> bool:
    """Whether an expression is ``len(...)``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and bool(node.args)
