"""Kernel text, step four: values used once become part of the expression that uses them."""

from __future__ import annotations

import ast
from collections import Counter

from kdata.align.trees import Replace, names, walk

LONGEST = 88  # characters of an expression that something is inlined into
KEPT_CALLS = ("tl.load", "tl.dot", "tl.sum", "tl.max", "tl.min", "tl.reduce", "tl.associative_scan", "tl.atomic_add")


def inline(function: ast.FunctionDef) -> None:
    """Inline single-use values in place, in every block."""
    while _inline_once(function.body, _Uses(function)):
        continue


class _Uses:
    """How often each name is read and written in a function."""

    def __init__(self, function: ast.FunctionDef) -> None:
        found = [n for n in walk(function) if isinstance(n, ast.Name)]
        self.read = Counter(n.id for n in found if isinstance(n.ctx, ast.Load))
        self.written = Counter(n.id for n in found if isinstance(n.ctx, ast.Store))

    def single(self, name: str, body: list[ast.stmt]) -> bool:
        """Written once and read once, or so in each of several loops of which ``body`` is one."""
        if self.written[name] == 1:
            return self.read[name] == 1
        return self.read[name] == self.written[name] and _once_each(name, body)

    def forget(self, name: str) -> None:
        """One writing and one reading of the name are gone."""
        self.read[name] -= 1
        self.written[name] -= 1


def _inline_once(body: list[ast.stmt], uses: _Uses) -> bool:
    """One pass over a block and those inside it; whether it changed anything."""
    changed = False
    for statement in list(body):
        match statement:
            case ast.For(body=inner):
                changed |= _inline_once(inner, uses)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if uses.single(name, body) and _is_plain(value):
                position = body.index(statement)
                user = _user(name, value, body[position + 1 :])
                if user is not None and _fits(name, value, user):
                    Replace({name: value}).visit(user)
                    del body[position]
                    uses.forget(name)
                    changed = True
    return changed


def _once_each(name: str, body: list[ast.stmt]) -> bool:
    here = [n for s in body for n in walk(s) if isinstance(n, ast.Name) and n.id == name]
    return len(here) == 2 and sum(isinstance(n.ctx, ast.Store) for n in here) == 1


def _is_plain(value: ast.expr) -> bool:
    """An expression worth reading inside another one: no memory access, no reduction."""
    calls = {ast.unparse(n.func) for n in walk(value) if isinstance(n, ast.Call)}
    return not calls & set(KEPT_CALLS)


def _user(name: str, value: ast.expr, following: list[ast.stmt]) -> ast.stmt | None:
    """The statement that reads the name, if nothing that the value reads changes before it."""
    fixed = names(value)
    for statement in following:
        if name in names(statement):
            return None if isinstance(statement, ast.For) else statement
        changed = {n.id for n in walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
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
