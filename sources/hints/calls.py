"""Calls in statements of a package that may tell of a class: what each is called by, and whether it tells something."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sources.text.remembered import remembered
from sources.text.scope import nodes, root_of


def called(node: ast.Call) -> str:
    """The last name of what is called, "" where that has none."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else str(getattr(node.func, "id", ""))


def of_bases(statement: ast.stmt) -> Iterator[ast.Call]:
    """What a class's constructor gives to its base's, ``super().__init__(3, dims)``, as calls of the first base."""
    base = statement.bases[0] if isinstance(statement, ast.ClassDef) and statement.bases else None
    if not isinstance(base, ast.Name | ast.Attribute):
        return
    for node in nodes(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__":
            outer = node.func.value
            of_super = isinstance(outer, ast.Call) and ast.unparse(outer.func) == "super"
            args = node.args if of_super else node.args[1:] if ast.unparse(outer) == ast.unparse(base) else []
            if args or of_super and node.keywords:
                yield ast.copy_location(ast.Call(base, args, node.keywords), node)


def tells(statement: ast.stmt, node: ast.Call) -> bool:
    """Whether an argument of a call is more than what its function was given, or an attribute of that."""
    roots = [root_of(argument) for argument in [*node.args, *(k.value for k in node.keywords)]]
    names = [r.id for r in roots if isinstance(r, ast.Name)]
    return len(names) < len(roots) or not _parameters(statement).issuperset(names)


@remembered
def _parameters(statement: ast.AST) -> frozenset[str]:
    given = {n.arg for n in nodes(statement) if isinstance(n, ast.arg)}
    bound = {n.id for n in nodes(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return frozenset(given - bound - {"self"})
