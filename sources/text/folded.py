"""Numbers that a program computes of numbers, ``24 * 7`` or ``1 << 16``, said as what comes out."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

MAX_NUMBER = 1 << 32  # in sizes: beyond it nothing is a setting, and computing might take long
MAX_POWER = 64
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
}  # fmt: skip


def folded(node: ast.expr) -> ast.expr:
    """The expression with the numbers that come out in place of what computes them, also within lists and tuples."""
    if isinstance(node, ast.Tuple | ast.List):
        return type(node)([folded(item) for item in node.elts], ast.Load())
    value = _computed(node) if isinstance(node, ast.BinOp | ast.UnaryOp) else None
    return node if value is None else ast.parse(repr(value), mode="eval").body


def _computed(node: ast.expr) -> int | float | None:
    """The number that an expression of numbers comes to; None for others."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _computed(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int | float) and not isinstance(node.value, bool) else None
    if not isinstance(node, ast.BinOp) or type(node.op) not in _OPERATORS:
        return None
    left, right = _computed(node.left), _computed(node.right)
    if left is None or right is None or isinstance(node.op, ast.Pow | ast.LShift) and abs(right) > MAX_POWER:
        return None
    try:
        value = _OPERATORS[type(node.op)](left, right)
    except (ArithmeticError, ValueError, TypeError):  # nothing comes out
        return None
    return value if type(value) in (int, float) and abs(value) <= MAX_NUMBER else None
