"""Names of modules that parameters and variables of a function hide: ``def product(operator): ...``.

Within such a function the name is not the module's.  No module comes in by it that another name would not bring in:
handing one on is objected to where that is done, and a name that is somewhere bound otherwise hides nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import Any

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def hidden(tree: ast.Module, imported: Collection[str]) -> frozenset[int]:
    """The nodes of names that read like imported ones and are a function's own, by their ids."""
    return frozenset(_hidden(tree, frozenset(imported) - set(_unclear(tree, imported)), frozenset()))


def _hidden(node: ast.AST, names: frozenset[str], own: frozenset[str]) -> Iterator[int]:
    """``own``: those of the names that the functions around a node bind."""
    if isinstance(node, ast.Name) and node.id in own:
        yield id(node)
    inside = _body(node)
    for child in ast.iter_child_nodes(node):
        scope = own | (names & set(_bound(node))) if id(child) in inside else own
        yield from _hidden(child, names, scope)


def _body(node: ast.AST) -> set[int]:
    """What runs where a function's arguments are known: not its defaults, annotations and decorators."""
    if isinstance(node, ast.Lambda):
        return {id(node.body)}
    return set(map(id, node.body)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else set()


def _bound(function: ast.AST) -> Iterator[str]:
    """A function's parameters and variables."""
    if isinstance(function, FUNCTIONS):
        yield from (a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg))
        body: list[Any] = [function.body] if isinstance(function, ast.Lambda) else function.body
        yield from _stored(body)


def _same_scope(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        for child in ast.iter_child_nodes(node):
            yield from _same_scope(child)


def _unclear(tree: ast.Module, imported: Collection[str]) -> Iterator[str]:
    """Names that are bound otherwise than by parameters and plain variables, or to what may be a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Nonlocal | ast.Global):
            yield from node.names
        elif isinstance(node, COMPREHENSIONS):
            yield from (n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name))
        elif isinstance(node, ast.ClassDef):
            yield from _stored(node.body)
        elif isinstance(node, FUNCTIONS):
            yield from _taken(node, imported)


def _taken(function: ast.AST, imported: Collection[str]) -> Iterator[str]:
    """Names that a function imports, or makes of what is imported."""
    for node in ast.walk(function):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (a.asname or a.name.partition(".")[0] for a in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and _base(node.value) in imported:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))


def _base(value: ast.expr | None) -> str:
    while isinstance(value, ast.Attribute):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def _stored(body: Sequence[ast.AST]) -> Iterator[str]:
    """The variables that these bind."""
    nodes = (n for part in body for n in _same_scope(part))
    yield from (n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
