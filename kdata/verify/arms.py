"""Which way the tests of a candidate's wrapper go: what no call has taken was not judged. In children and beside them.

Every ``if`` of a function that is no kernel has two arms, and so has every conditional expression. The text is compiled
with a call around each test, by a name that no text can say; lines and names stay as they are.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kdata.verify.subset import jitted

NAME = "goes which way"
Arm = tuple[int, bool]  # a test's number, in the order of the text, and what it came to

taken: set[Arm] = set()
_forced: dict[int, bool] = {}


@dataclass(frozen=True, slots=True)
class Test:
    """One test of a wrapper."""

    number: int
    line: int
    text: str
    words: frozenset[str]  # names and attributes on which it depends, through what the text binds them to
    refuses: frozenset[bool]  # arms that only raise


def went(number: int, value: Any) -> bool:
    """Note the arm that a test chooses, and choose it; or the one that is forced."""
    arm = _forced.get(number, bool(value))
    taken.add((number, arm))
    return arm


@contextlib.contextmanager
def forced(number: int, arm: bool) -> Iterator[None]:
    """Where one test goes this way, whatever it finds."""
    _forced[number] = arm
    try:
        yield
    finally:
        _forced.clear()


def marked(tree: ast.Module) -> ast.Module:
    """The text with its tests noted."""
    for number, node in enumerate(_nodes(tree)):
        place = ast.Constant(number)
        node.test = ast.copy_location(ast.Call(ast.Name(NAME, ast.Load()), [place, node.test], []), node.test)
    return ast.fix_missing_locations(tree)


def tests(text: str) -> list[Test]:
    """The tests of a text's wrappers."""
    tree = ast.parse(text)
    names = _Names(tree)
    return [
        Test(number, node.lineno, ast.unparse(node.test)[:80], names.words(node), _refusals(node))
        for number, node in enumerate(_nodes(tree))
    ]


def _nodes(tree: ast.Module) -> list[ast.If | ast.IfExp]:
    """Tests within functions that are no kernels, in the order of the text."""
    kernels = {id(node) for kernel in jitted(tree) for node in ast.walk(kernel)}
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.Lambda) and id(n) not in kernels)
    found = {id(n): n for f in functions for n in ast.walk(f) if isinstance(n, ast.If | ast.IfExp)}
    outside = (node for key, node in found.items() if key not in kernels)
    return sorted(outside, key=lambda node: (node.test.lineno, node.test.col_offset))


def _refusals(node: ast.If | ast.IfExp) -> frozenset[bool]:
    if isinstance(node, ast.IfExp):
        return frozenset()
    arms = ((True, node.body), (False, node.orelse))
    return frozenset(arm for arm, body in arms if body and isinstance(body[-1], ast.Raise))


class _Names:
    """What a text's names stand for: those of the function they stand in, else functions and attributes."""

    def __init__(self, tree: ast.Module) -> None:
        self._common: dict[str, list[ast.AST]] = {}
        self._own: dict[int, dict[str, list[ast.AST]]] = {}
        self._scope: dict[int, int] = {}  # of each node, the innermost function around it
        for function in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:  # outer ones come first
            self._scope |= {id(node): id(function) for node in ast.walk(function)}
            self._common.setdefault(function.name, []).extend(_telling(function))
        for node in ast.walk(tree):
            for name, attribute, value in _bindings(node):
                own = self._own.setdefault(self._scope.get(id(node), 0), {})
                (self._common if attribute else own).setdefault(name, []).append(value)

    def words(self, node: ast.If | ast.IfExp) -> frozenset[str]:
        """The names and attributes on which a test depends."""
        words: set[str] = set()
        seen: set[tuple[str, int]] = set()
        left: list[ast.AST] = [node.test]
        while left:
            for part in _named(left.pop()):
                word, scope = _name(part), self._scope.get(id(part), 0)
                words.add(word)
                if (word, scope) not in seen:
                    seen.add((word, scope))
                    left += self._own.get(scope, {}).get(word) or self._common.get(word, [])
        return frozenset(words)


def _telling(function: ast.FunctionDef) -> list[ast.AST]:
    """What a function's answer follows from: what it returns, and the tests that do not only refuse."""
    nodes = list(ast.walk(function))
    chosen: list[ast.AST] = [n.test for n in nodes if isinstance(n, ast.If) and not _refusals(n)]
    return chosen + [n.value for n in nodes if isinstance(n, ast.Return) and n.value is not None]


def _bindings(node: ast.AST) -> Iterator[tuple[str, bool, ast.AST]]:
    """Names that are bound here, whether they are attributes, and what to."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for part in ast.walk(target):
                if isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Store):
                    yield _name(part), isinstance(part, ast.Attribute), node.value


def _named(node: ast.AST) -> Iterator[ast.Name | ast.Attribute]:
    """The names and attributes in an expression, but for where and of what dtype memory is asked for."""
    if isinstance(node, ast.keyword) and node.arg in ("device", "dtype"):
        return
    if isinstance(node, ast.Name | ast.Attribute):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _named(child)


def _name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr
