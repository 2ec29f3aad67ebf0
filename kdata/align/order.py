"""Kernel text, last step: one order for the terms of every address and the parts of every mask.

``x_ptr + col + row * features`` and ``col_mask & row_mask`` become ``x_ptr + row * features + col`` and
``row_mask & col_mask``: the longest stride first, as tensors are laid out, and rows before columns.  ``x_ptr + 0`` is
``x_ptr``, and ``col * -1 + n`` is ``n - col``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, TypeGuard

import sympy

from kdata.align import symbols
from kdata.align.trees import Transformer, names, operands


def degree(size: Any) -> int:
    """How many extents a size is a product of, about: the longest stride is that of the highest degree."""
    if size.is_Mul:
        return sum(degree(factor) for factor in size.args)
    if size.is_Pow and size.exp.is_Integer:
        return int(size.exp) * degree(size.base)
    if isinstance(size, symbols.floordiv):
        return max(0, degree(size.args[0]) - degree(size.args[1]))
    if size.is_Add:
        return max(degree(term) for term in size.args)
    return int(isinstance(size, sympy.Symbol))


def put_in_order(function: ast.FunctionDef, bases: Mapping[str, str], degrees: Mapping[str, int]) -> None:
    """Sort sums in addresses and conjunctions of masks, in place.

    Args:
        function: the finished kernel.
        bases: what indices and masks are called, by Inductor's names.
        degrees: those of the kernel's integer arguments.
    """
    inner = ("r0_mask", "xmask") if "BLOCK_K" in bases.values() else ("xmask", "r0_mask")
    masks = [bases[mask] for mask in ("ymask", *inner) if mask in bases]
    _Order(masks, degrees).visit(function)


class _Order(Transformer):
    def __init__(self, masks: list[str], degrees: Mapping[str, int]) -> None:
        self.masks, self.degrees = masks, degrees

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=ast.Name(id="tl"), attr="load" | "store") if node.args:
                node.args[0] = self._address(node.args[0])
            case ast.Attribute(value=ast.Name(id="tl"), attr="range") if not node.keywords:
                node.func = ast.Name("range", ast.Load())
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if isinstance(node.op, ast.Add) and _is_negated((terms := operands(node, ast.Add))[0]):
            ordered = sorted((self.visit(term) for term in terms), key=_is_negated)
            return _joined(ordered, ast.Add())
        if not isinstance(node.op, ast.BitAnd):
            self.generic_visit(node)
            factors = operands(node.right, ast.Mult)
            sizes = all(isinstance(factor, ast.Name) and factor.id in self.degrees for factor in factors)
            is_product = isinstance(node.op, ast.Mult) and len(factors) > 1 and sizes
            return _joined([node.left, *factors], ast.Mult()) if is_product else node
        parts = [self.visit(part) for part in operands(node, ast.BitAnd)]
        return _joined(sorted(parts, key=self._place), ast.BitAnd())

    def _place(self, part: ast.expr) -> int:
        read = names(part)
        return next((i for i, mask in enumerate(self.masks) if mask in read), len(self.masks))

    def _address(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and isinstance(node.right, ast.Constant):
            return ast.BinOp(self._address(node.left), node.op, node.right)
        pointer, *terms = operands(node, ast.Add)
        if not any(name.endswith("_ptr") for name in names(pointer)):
            return node
        if len(terms) == 1 and isinstance(terms[0], ast.BinOp) and isinstance(terms[0].op, ast.Sub):
            return node
        moved = [term for term in terms if ast.unparse(term) != "0"]
        return _joined([pointer, *sorted(moved, key=self._stride)], ast.Add())

    def _stride(self, term: ast.expr) -> tuple[bool, int, int]:
        """Plain numbers last; else by how far one step of the index goes, the farthest first."""
        factors = operands(term, ast.Mult)
        number = 1
        for factor in factors:
            number *= int(factor.value) if isinstance(factor, ast.Constant) and isinstance(factor.value, int) else 1
        said = sum(self.degrees.get(factor.id, 0) for factor in factors if isinstance(factor, ast.Name))
        return isinstance(term, ast.Constant), -said, -abs(number)


def _joined(parts: list[ast.expr], op: ast.operator) -> ast.expr:
    joined = parts[0]
    for part in parts[1:]:
        if isinstance(op, ast.Add) and _is_negated(part):
            joined = ast.BinOp(joined, ast.Sub(), part.left)
        else:
            joined = ast.BinOp(joined, op, part)
    return joined


def _is_negated(term: ast.expr) -> TypeGuard[ast.BinOp]:
    """Whether it is a whole number times -1."""
    return isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult) and ast.unparse(term.right) == "-1"
