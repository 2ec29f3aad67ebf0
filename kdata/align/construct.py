"""A task's text for constructing only: no docstrings, no attributes that nothing reads any more, no dunder calls."""

from __future__ import annotations

import ast
from collections.abc import Collection


def drop_docstrings(tree: ast.Module) -> None:
    """Remove the docstrings of classes and functions: they tell how to use a module, not how to build it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]


def drop_idle_attributes(constructing: Collection[ast.stmt], defined: set[str], plain: Collection[str]) -> None:
    """Remove ``self.fused = use_fused()`` where no constructor reads the attribute.

    Only values that need more of the task's text are worth it.

    Args:
        constructing: the statements that constructing the module may run.
        defined: the names that the text defines.
        plain: attributes that hold neither tensors nor modules.
    """
    nodes = [n for s in constructing for n in ast.walk(s)]
    read = {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}
    read |= {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}  # getattr(self, name)
    dropping = _DropIdle(set(plain) - read, defined)
    for statement in constructing:
        dropping.visit(statement)


class _DropIdle(ast.NodeTransformer):
    def __init__(self, idle: set[str], defined: set[str]) -> None:
        self.idle, self.defined = idle, defined

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        match node.targets:
            case [ast.Attribute(value=ast.Name(id="self"), attr=name)] if name in self.idle:
                read = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
                return ast.Pass() if read & self.defined else node
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        node.body, node.orelse = _busy(node.body), _busy(node.orelse)
        asks_only = not any(isinstance(n, ast.Call | ast.NamedExpr) for n in ast.walk(node.test))
        if not node.body and not node.orelse and asks_only:
            return ast.Pass()
        if node.orelse and not node.body:
            return ast.If(ast.UnaryOp(ast.Not(), node.test), node.orelse, [])
        node.body = node.body or [ast.Pass()]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.body = _busy(node.body) or [ast.Pass()]
        return node


def _busy(block: list[ast.stmt]) -> list[ast.stmt]:
    return [s for s in block if not isinstance(s, ast.Pass)]


def use_builtins(tree: ast.Module) -> None:
    """Write ``self.__setattr__(name, value)`` as ``setattr(self, name, value)``, which candidates may say."""
    _UseBuiltins().visit(tree)


class _UseBuiltins(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=ast.Name() as owner, attr="__setattr__"):
                return ast.Call(ast.Name("setattr", ast.Load()), [owner, *node.args], node.keywords)
        return node
