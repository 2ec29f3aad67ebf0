"""Tests whose outcome the constants of a package tell."""

from __future__ import annotations

import ast
import re

from sources.text.scope import nodes
from sources.text.symbols import Package
from sources.text.targets import Here, Inner, Target

_OVERRIDDEN = re.compile(r"(torch\.)?(_?overrides\.)?has_torch_function(_unary|_variadic)?")


def decided(package: Package, path: str, node: ast.stmt, test: ast.expr) -> bool | None:
    """The outcome of a test on constants of the package such as ``has_xformers``, None if it is open."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = decided(package, path, node, test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        values = [decided(package, path, node, v) for v in test.values]
        decisive = isinstance(test.op, ast.Or)
        return decisive if decisive in values else None
    if isinstance(test, ast.Call) and _OVERRIDDEN.fullmatch(ast.unparse(test.func)):
        return False  # a task's tensors are plain; a search, which watches torch's functions, would be told otherwise
    if isinstance(test, ast.Compare) and ast.unparse(test).endswith((" is None", " is not None")):
        value = _constant(package, path, node, test.left)
        value = True if value is ... and _is_module(package, path, node, test.left) else value
        return None if value is ... else (value is None) == isinstance(test.ops[0], ast.Is)
    value = _constant(package, path, node, test)
    return bool(value) if isinstance(value, bool) or value is None else None


def _constant(package: Package, path: str, node: ast.stmt, name: ast.expr) -> object:
    target = _target(package, path, node, name)
    if target is None or isinstance(target, Here) and _rebound(package, target):
        return ...
    return package.constant(target)


def _is_module(package: Package, path: str, node: ast.stmt, name: ast.expr) -> bool:
    """Whether a name is that of a module which is here: ``if compiled is None`` asks whether it could be imported."""
    return isinstance(_target(package, path, node, name), Inner)


def _target(package: Package, path: str, node: ast.stmt, name: ast.expr) -> Target | None:
    """What a name means at the top level; None where a statement uses it for something of its own."""
    if not isinstance(name, ast.Name):
        return None
    here = (n for n in nodes(node) if isinstance(n, ast.Name | ast.arg))
    if any(
        n.arg == name.id if isinstance(n, ast.arg) else n.id == name.id and isinstance(n.ctx, ast.Store) for n in here
    ):
        return None
    return package.lookup(path, name.id)


def _rebound(package: Package, target: Here) -> bool:
    """Whether a function of its file gives a global another value: ``def enable(): global fused; fused = True``."""
    file = package.file(target.file)
    functions = (n for n in (file.tree.body if file else ()) if isinstance(n, ast.FunctionDef | ast.ClassDef))
    return any(isinstance(n, ast.Global) and target.name in n.names for f in functions for n in nodes(f))
