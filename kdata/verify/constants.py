"""What expressions of a text name, and what constant ones come to, also in strings: ``int("2048")``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from operator import add, floordiv, lshift, mul, sub

FOLDED: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.FloorDiv: floordiv, ast.LShift: lshift, ast.Pow: pow,
}  # fmt: skip
GROWING = (ast.LShift, ast.Pow)
BITS = 62
SHORT = 3 << 15  # elements that an integer of 16 bits does not count, with a sign or without one
IGNORED, SAYS_IGNORED = -100, "ignore_index"  # torch's number for targets that do not count, and its name for it
PRINTED = 4096  # bits of an integer that Python prints however it is set


def name_of(node: ast.AST) -> str:
    """A name, or an attribute's without what it is one of; "" of anything else."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def sayable(tree: ast.AST) -> bool:
    """Whether Python prints all numbers of a text again: it refuses integers of thousands of digits."""
    numbers = (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is int)
    return all(number.bit_length() <= PRINTED for number in numbers)


def whole(node: ast.AST) -> int | None:
    """What an expression of whole numbers comes to; None where it is something else."""
    if isinstance(node, ast.Constant):
        value = node.value
        integral = type(value) is int or (type(value) is float and abs(value) < 1 << BITS and value.is_integer())
        return int(value) if integral else None  # type: ignore[arg-type]  # it is one of the two
    if isinstance(node, ast.Call):
        return _called(node)
    if not isinstance(node, ast.BinOp) or type(node.op) not in FOLDED:
        return None
    left, right = whole(node.left), whole(node.right)
    if left is None or right is None or (isinstance(node.op, ast.FloorDiv) and right == 0):
        return None
    if isinstance(node.op, GROWING) and not (right >= 0 and right * max(1, abs(left).bit_length()) <= 4 * BITS):
        return None
    return FOLDED[type(node.op)](left, right)


def _called(node: ast.Call) -> int | None:
    """What a builtin makes of one constant."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in ("int", "float", "len", "ord", "abs", "round") or len(node.args) != 1 or node.keywords:
        return None
    given = node.args[0]
    if name == "len" and isinstance(given, ast.List | ast.Tuple):
        return len(given.elts)
    if not (isinstance(given, ast.Constant) and isinstance(given.value, str | bytes)):
        number = whole(given) if name not in ("len", "ord") else None
        return abs(number) if number is not None and name == "abs" else number
    if name == "len":
        return len(given.value)
    if name == "ord":
        return ord(given.value) if len(given.value) == 1 else None
    try:
        value = float(given.value) if name in ("int", "float") and len(given.value) <= BITS else None
    except ValueError:  # it is no number
        return None
    return int(value) if value is not None and abs(value) < 1 << BITS and value.is_integer() else None


def says_ignored(text: str) -> bool:
    """Whether a text says itself which targets do not count: by the name that torch has for it, or by its number."""
    nodes = list(ast.walk(ast.parse(text)))
    names = {getattr(node, name, None) for node in nodes for name in ("arg", "attr", "id")}
    numbers = {-node.operand.value for node in nodes if isinstance(node, ast.UnaryOp)
               and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
               and type(node.operand.value) is int}  # fmt: skip
    return SAYS_IGNORED in names or IGNORED in numbers
