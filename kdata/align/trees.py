"""Tools for the trees of kernels: names, their meanings, replacing and removing them."""

from __future__ import annotations

import ast
from typing import Any

INDEX = ("xindex", "yindex", "zindex", "r0_index", "r1_index", "rindex")


# Which fields of a node may hold nodes that anyone looks for.
_CHILDREN: dict[type[ast.AST], tuple[str, ...]] = {}
_LEAVES = frozenset({"ctx", "id", "attr", "arg", "kind", "type_comment", "type_ignores", "name", "n", "s"})


def walk(tree: ast.AST) -> list[ast.AST]:
    """What ``ast.walk`` yields, in its order, without the contexts of names: three times as fast."""
    found = [tree]
    for node in found:  # which grows on the way
        for child in _children(node):
            value = getattr(node, child, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [v for v in value if isinstance(v, ast.AST)]
    return found


def _children(node: ast.AST) -> tuple[str, ...]:
    fields = _CHILDREN.get(type(node))
    if fields is None:
        fields = _CHILDREN[type(node)] = tuple(f for f in node._fields if f not in _LEAVES)
    return fields


class Transformer(ast.NodeTransformer):
    """``ast.NodeTransformer`` that passes over contexts and strings."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for child in _children(node):
            value = getattr(node, child, None)
            if isinstance(value, list):
                if value:
                    value[:] = self._visited(value)
            elif isinstance(value, ast.AST):
                new = self.visit(value)
                if new is None:
                    delattr(node, child)
                else:
                    setattr(node, child, new)
        return node

    def _visited(self, nodes: list[Any]) -> list[Any]:
        kept: list[Any] = []
        for node in nodes:
            if not isinstance(node, ast.AST):
                kept.append(node)  # None for a parameter without a default, too
                continue
            new = self.visit(node)
            if isinstance(new, list):
                kept += new
            elif new is not None:
                kept.append(new)
        return kept


def call(name: str, *arguments: ast.expr, **keywords: ast.expr) -> ast.Call:
    """``name(*arguments, **keywords)`` as a tree."""
    function = ast.parse(name, mode="eval").body
    return ast.Call(function, list(arguments), [ast.keyword(k, v) for k, v in keywords.items()])


def assigned(name: str, value: ast.expr) -> ast.Assign:
    """``name = value`` as a tree."""
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=0)


def operands(node: ast.expr, kind: type[ast.operator]) -> list[ast.expr]:
    """What an operator joins, however it is bracketed: a, b and c of ``a + (b + c)``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, kind):
        return [*operands(node.left, kind), *operands(node.right, kind)]
    return [node]


def names(tree: ast.AST) -> set[str]:
    """Every name that a tree reads, functions that it calls left out."""
    nodes = walk(tree)
    called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in called}


def alike(*trees: ast.AST) -> bool:
    """Whether trees are the same text."""
    return len({ast.dump(tree) for tree in trees}) == 1


def assignments(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Names with one meaning, and what they are assigned: once, or the same expression in several loops."""
    found: dict[str, ast.expr] = {}
    other: set[str] = set()
    for node in walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case ast.Assign(targets=[ast.Tuple(elts=targets)]):
                other |= {t.id for t in targets if isinstance(t, ast.Name)}
                continue
            case _:
                continue
        if name in found and ast.dump(found[name]) != ast.dump(value):
            other.add(name)
        found.setdefault(name, value)
    return {name: value for name, value in found.items() if name not in other}


class Replace(Transformer):
    """Replace names by expressions."""

    def __init__(self, what: dict[str, ast.expr]) -> None:
        self.what = what

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.what.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


def propagate_aliases(function: ast.FunctionDef) -> None:
    """Remove ``a = b`` where both have one meaning."""
    while aliases := _aliases(function):
        remove(function, set(aliases))
        Replace({name: _root(value, aliases) for name, value in aliases.items()}).visit(function)


def _aliases(function: ast.FunctionDef) -> dict[str, ast.expr]:
    single = assignments(function)
    stored = {n.id for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    loops = {n.target.id for n in walk(function) if isinstance(n, ast.For) and isinstance(n.target, ast.Name)}
    steady = set(single) | loops
    return {
        name: value
        for name, value in single.items()
        if isinstance(value, ast.Name) and (value.id in steady or value.id not in stored)
    }


def _root(value: ast.expr, aliases: dict[str, ast.expr]) -> ast.expr:
    while isinstance(value, ast.Name) and value.id in aliases:
        value = aliases[value.id]
    return value


def remove(tree: ast.AST, targets: set[str]) -> None:
    """Remove the assignments to these names."""
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef | ast.For):
            node.body = [s for s in node.body if _target(s) not in targets] or [ast.Pass()]


def _target(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    return None


def drop_unused(function: ast.FunctionDef) -> None:
    """Remove assignments whose names nothing reads."""
    while True:
        read = names(function)
        targets = {_target(s) for s in walk(function) if isinstance(s, ast.stmt)} - {None}
        unused = {t for t in targets if t is not None and t not in read}
        if not unused:
            return
        remove(function, unused)


def unparse(tree: Any) -> str:
    """Source of a tree, with the positions that ``ast.unparse`` wants filled in."""
    return ast.unparse(ast.fix_missing_locations(tree))
