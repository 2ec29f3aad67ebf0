"""The quick walks of trees find and change what Python's own do."""

from __future__ import annotations

import ast
import inspect

from kdata.align import tiles
from kdata.align.trees import Transformer, walk

TEXT = inspect.getsource(tiles)


def test_walk_has_the_order_of_pythons_own() -> None:
    expected = [n for n in ast.walk(ast.parse(TEXT)) if not isinstance(n, ast.expr_context)]
    assert [ast.dump(n) for n in walk(ast.parse(TEXT))] == [ast.dump(n) for n in expected]


def test_transformer_replaces_removes_and_multiplies() -> None:
    def visit_Name(self: ast.NodeTransformer, node: ast.Name) -> ast.expr:
        return ast.Name("y", node.ctx) if node.id == "x" else node

    def visit_Assert(self: ast.NodeTransformer, node: ast.Assert) -> None:
        return None

    def visit_Return(self: ast.NodeTransformer, node: ast.Return) -> list[ast.stmt]:
        return [ast.Pass(), node]

    methods = {f.__name__: f for f in (visit_Name, visit_Assert, visit_Return)}
    text = "def f(x, *, a, b=x):\n    assert x\n    if x:\n        return g(x)[x:x + 1]\n    return None"
    ours, pythons = (
        type("Change", (base,), methods)().visit(ast.parse(text)) for base in (Transformer, ast.NodeTransformer)
    )
    assert ast.dump(ours) == ast.dump(pythons) and "assert" not in ast.unparse(ours)
