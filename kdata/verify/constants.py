"""What constant expressions of a text come to."""

from __future__ import annotations

import ast
from collections.abc import Callable
from operator import add, floordiv, lshift, mul, sub

FOLDED: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.FloorDiv: floordiv, ast.LShift: lshift, ast.Pow: pow,
}  # fmt: skip
GROWING = (ast.LShift, ast.Pow)
BITS = 62


def whole(node: ast.AST) -> int | None:
    """What an expression of whole numbers comes to; None where it is something else."""
    if isinstance(node, ast.Constant):
        value = node.value
        integral = type(value) is int or (type(value) is float and abs(value) < 1 << BITS and value.is_integer())
        return int(value) if integral else None  # type: ignore[arg-type]  # it is one of the two
    if not isinstance(node, ast.BinOp) or type(node.op) not in FOLDED:
        return None
    left, right = whole(node.left), whole(node.right)
    if left is None or right is None or (isinstance(node.op, ast.FloorDiv) and right == 0):
        return None
    if isinstance(node.op, GROWING) and not (right >= 0 and right * max(1, abs(left).bit_length()) <= 4 * BITS):
        return None
    return FOLDED[type(node.op)](left, right)
