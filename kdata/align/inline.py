"""Kernel text, step four: values used once become part of the expression that uses them."""

from __future__ import annotations

import ast
from collections import Counter

from kdata.align.simplify import Replace, names

LONGEST = 88  # characters of an expression that something is inlined into
KEPT_CALLS = ("tl.load", "tl.dot", "tl.sum", "tl.max", "tl.min", "tl.reduce", "tl.associative_scan", "tl.atomic_add")


def inline(function: ast.FunctionDef) -> None:
    """Inline single-use values in place, in every block."""
    while _inline_one(function.body, function):
        continue


def _inline_one(body: list[ast.stmt], function: ast.FunctionDef) -> bool:
    uses = Counter(n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    stores = Counter(n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    for position, statement in enumerate(body):
        if isinstance(statement, ast.For) and _inline_one(statement.body, function):
            return True
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                here = uses[name] == 1 and stores[name] == 1
                if (here or _is_local(name, body, uses, stores)) and _is_plain(value):
                    user = _user(name, value, body[position + 1 :])
                    if user is not None and _fits(name, value, user):
                        Replace({name: value}).visit(user)
                        del body[position]
                        return True
    return False


def _is_local(name: str, body: list[ast.stmt], uses: Counter[str], stores: Counter[str]) -> bool:
    """The same name in several loops, each time written once and read once."""
    here = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == name]
    written = sum(isinstance(n.ctx, ast.Store) for n in here)
    return stores[name] > 1 and uses[name] == stores[name] and written == 1 and len(here) == 2


def _is_plain(value: ast.expr) -> bool:
    """An expression worth reading inside another one: no memory access, no reduction."""
    calls = {ast.unparse(n.func) for n in ast.walk(value) if isinstance(n, ast.Call)}
    return not calls & set(KEPT_CALLS)


def _user(name: str, value: ast.expr, following: list[ast.stmt]) -> ast.stmt | None:
    """The statement that reads the name, if nothing that the value reads changes before it."""
    fixed = names(value)
    for statement in following:
        if name in names(statement):
            return None if isinstance(statement, ast.For) else statement
        changed = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if changed & fixed:
            return None
    return None


def _fits(name: str, value: ast.expr, user: ast.stmt) -> bool:
    expression = user.value if isinstance(user, ast.Assign | ast.Expr) else None
    if expression is None:
        return False
    text = ast.unparse(value)
    is_index = name.endswith("offset")
    return is_index or len(ast.unparse(expression)) + len(text) <= LONGEST
