"""Kernel text: quotients, minima and maxima of sizes and indices as a person writes them."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from kdata.align.trees import Transformer, alike, call, walk

INDICES = re.compile(r"([xyz]|r\d_)(index|\d+)|ks\d+")  # as Inductor names them, and sizes


class PlainDivision(Transformer):
    """``//`` and ``%`` for the helpers that round down, where nothing can be negative."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = ast.unparse(node.func)
        if name in ("floor_div", "floor_mod") and not any(may_be_negative(a) for a in node.args):
            return ast.BinOp(node.args[0], ast.FloorDiv() if name == "floor_div" else ast.Mod(), node.args[1])
        return node


class Extremes(Transformer):
    """``tl.maximum(e, 0)`` for ``(0 >= e) * 0 + e * (e > 0)``, as sizes are spelled, and likewise ``tl.minimum``."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.BinOp(op=ast.Add()) if (extreme := _extreme(node.left, node.right)) is not None:
                return extreme
            case ast.BinOp(left=ast.BinOp(left=before, op=ast.Add(), right=term), op=ast.Add()) if (
                extreme := _extreme(term, node.right)
            ) is not None:
                return ast.BinOp(before, ast.Add(), extreme)
        return node


def _extreme(one: ast.expr, other: ast.expr) -> ast.expr | None:
    """``tl.maximum(b, a)`` of ``(a >= b) * a`` and ``b * (b > a)``, ``tl.minimum`` of ``<=`` and ``<``."""
    match _where(one), _where(other):
        case (
            (a, ast.Compare(same, [first], [b])),
            (again, ast.Compare(left, [second], [right])),
        ) if alike(a, same, right) and alike(b, again, left):
            names = {(ast.GtE, ast.Gt): "tl.maximum", (ast.LtE, ast.Lt): "tl.minimum"}
            name = names.get((type(first), type(second)))
            return call(name, b, a) if name else None
    return None


def _where(product: ast.expr) -> tuple[ast.expr, ast.Compare] | None:
    """A value and where it counts, which is multiplied in from either side."""
    match product:
        case ast.BinOp(ast.Compare() as where, ast.Mult(), value):
            return value, where
        case ast.BinOp(value, ast.Mult(), ast.Compare() as where):
            return value, where
    return None


def is_whole(value: ast.expr, meanings: Mapping[str, ast.expr]) -> bool:
    """Whether a value is of an integer type: a cast to one, an index, or computed of such."""
    match value:
        case ast.Name(id=name):
            return is_whole(meanings[name], meanings) if name in meanings else bool(INDICES.fullmatch(name))
        case ast.Constant(value=number):
            return type(number) is int
        case (
            ast.Call(func=ast.Attribute(attr="to"), args=[kind])
            | ast.Call(func=ast.Attribute(attr="full"), args=[_, _, kind])
        ):
            return ast.unparse(kind).startswith("tl.int")
        case ast.BinOp(left=left, op=op, right=right):
            return not isinstance(op, ast.Div) and is_whole(left, meanings) and is_whole(right, meanings)
    return False


def may_be_negative(expression: ast.expr) -> bool:
    """Whether a difference, a sign or a value that was computed is in an expression of sizes."""
    return any(
        isinstance(n, ast.Sub | ast.USub) or (isinstance(n, ast.Name) and n.id.startswith("tmp"))
        for n in walk(expression)
    )
