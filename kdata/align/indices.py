"""Kernel text, step two: what only sizes decide is computed by the launcher, and indices get names.

``ks1*ks2*(r // 9) + ks2*(y // (ks2 - 2))`` becomes ``height_width * k_2 + width * row_1`` with three new arguments.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from kdata.align import symbols
from kdata.align.trees import INDEX, Transformer, assigned, assignments, names, operands, walk


@dataclass(slots=True)
class Arguments:
    """A kernel's integer arguments: each an expression over the sizes that Inductor passed."""

    values: dict[str, Any] = field(default_factory=dict)  # argument -> sympy expression over the original arguments

    def argument(self, expression: Any) -> str:
        """The argument that holds this expression."""
        expression = symbols.tidy(expression)
        for name, value in self.values.items():
            if value == expression:
                return name
        name = f"size{len(self.values)}"
        self.values[name] = expression
        return name


def hoist(function: ast.FunctionDef, sizes: list[str]) -> Arguments:
    """Replace every expression over sizes alone by an argument; returns the arguments now used."""
    arguments = Arguments()
    _Hoist(set(sizes), arguments).visit(function)
    return arguments


class _Hoist(Transformer):
    def __init__(self, sizes: set[str], arguments: Arguments) -> None:
        self.sizes, self.arguments = sizes, arguments

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body = [self.visit(s) for s in node.body]
        return node

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and self._only_sizes(node):
            return ast.Name(self.arguments.argument(symbols.read(node)), ast.Load())
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            return self._product(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            return self._sum(node)
        return super().visit(node)

    def _only_sizes(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant | ast.Compare | ast.Tuple | ast.List) or not isinstance(
            node, ast.Name | ast.BinOp | ast.UnaryOp | ast.Call
        ):
            return False
        if any(isinstance(n, ast.Compare | ast.BoolOp) for n in walk(node)):
            return False
        read = names(node) - {"tl", "triton_helpers"}
        if not read or not read <= self.sizes:
            return False
        calls = [ast.unparse(n.func) for n in walk(node) if isinstance(n, ast.Call)]
        return all(c.endswith(".to") or c in symbols.FUNCTIONS for c in calls)

    def _product(self, node: ast.BinOp) -> ast.expr:
        factors = operands(node, ast.Mult)
        fixed = [f for f in factors if self._only_sizes(f) or _is_integer(f)]
        moving = [self.visit(f) for f in factors if f not in fixed]
        if not fixed or not moving:
            return _join([self.visit(f) for f in factors], ast.Mult())
        product = symbols.read(_join(fixed, ast.Mult()))
        if product.is_Integer:
            head: ast.expr = ast.Constant(int(product))
        else:
            head = ast.Name(self.arguments.argument(product), ast.Load())
        return _join([*moving, head], ast.Mult())

    def _sum(self, node: ast.BinOp) -> ast.expr:
        terms = _terms(node)
        fixed = [(sign, t) for sign, t in terms if self._only_sizes(t) or _is_integer(t)]
        moving = [(sign, self.visit(t)) for sign, t in terms if (sign, t) not in fixed]
        if not moving or not any(self._only_sizes(t) for _, t in fixed):
            return _signed_sum([*moving, *fixed])
        total = sum((sign * symbols.read(t) for sign, t in fixed), symbols.read(ast.Constant(0)))
        constant, rest = total.as_coeff_Add()
        tail: list[tuple[int, ast.expr]] = []
        if rest != 0:
            negative = rest.could_extract_minus_sign()
            held = ast.Name(self.arguments.argument(-rest if negative else rest), ast.Load())
            tail.append((-1 if negative else 1, held))
        if constant != 0:
            tail.append((1 if constant > 0 else -1, ast.Constant(abs(int(constant)))))
        return _signed_sum([*moving, *tail])


def _is_integer(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=int()):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
            return True
    return False


def _terms(node: ast.expr, sign: int = 1) -> list[tuple[int, ast.expr]]:
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _terms(left, sign) + _terms(right, sign)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _terms(left, sign) + _terms(right, -sign)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _terms(operand, -sign)
    return [(sign, node)]


def _join(parts: list[ast.expr], op: ast.operator) -> ast.expr:
    joined = parts[0]
    for part in parts[1:]:
        joined = ast.BinOp(joined, op, part)
    return joined


def _signed_sum(terms: list[tuple[int, ast.expr]]) -> ast.expr:
    ordered = sorted(terms, key=lambda t: t[0] < 0)
    sign, total = ordered[0]
    total = total if sign > 0 else ast.UnaryOp(ast.USub(), total)
    for sign, term in ordered[1:]:
        total = ast.BinOp(total, ast.Add() if sign > 0 else ast.Sub(), term)
    return total


def name_indices(function: ast.FunctionDef) -> None:
    """Give every quotient and remainder of an index a name of its own, once, where its index is known."""
    bases = set(INDEX) | {n for n in assignments(function) if n[0] in "xyzr" and n[1:].isdigit()}
    known: dict[str, str] = {}
    body: list[ast.stmt] = []
    for statement in function.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp) and _is_part(statement.value):
            known[ast.dump(statement.value)] = ast.unparse(statement.targets[0])
        finder = _Find(bases, known)
        if isinstance(statement, ast.For):
            _name_in_loop(statement, finder)
        elif not _names_a_part(statement):
            statement = finder.visit(statement)
        body += [*(assigned(n, e) for n, e in finder.found), statement]
    function.body = body


def _name_in_loop(loop: ast.For, outside: _Find) -> None:
    """Parts of indices that the loop makes are named inside it, all others before it."""
    inside = {n.id for n in walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    known = dict(outside.known)
    body: list[ast.stmt] = []
    for statement in loop.body:
        finder = _Find(outside.bases, known)
        changed = statement if _names_a_part(statement) else finder.visit(statement)
        for name, expression in finder.found:
            if names(expression) & inside:
                inside.add(name)
                body.append(assigned(name, expression))
            else:
                outside.known[ast.dump(expression)] = name
                outside.found.append((name, expression))
        body.append(changed)
    loop.body = body


def _is_part(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod)


def _names_a_part(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) and _is_part(statement.value)
    )


class _Find(Transformer):
    """Replaces parts of indices by names, and notes which names stand for what."""

    def __init__(self, bases: set[str], known: dict[str, str]) -> None:
        self.bases, self.known = bases, known
        self.found: list[tuple[str, ast.expr]] = []

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        read = names(node) & self.bases
        if not _is_part(node) or not read:
            self.generic_visit(node)
            return node
        key = ast.dump(node)
        if key not in self.known:
            families = {n[0] for n in read}
            base = {"r": "r0"}.get(min(families), min(families)) if len(families) == 1 else "joint"
            self.known[key] = f"{base}_part{len(self.known)}"
            self.found.append((self.known[key], node))
        return ast.Name(self.known[key], ast.Load())
