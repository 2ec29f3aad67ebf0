"""Imports that a candidate's text has and nothing uses: ``import os`` stands at the head of many an honest kernel.

The trusted side. Such a line is left out before anything is asked of the text, so that it is never executed; lines keep
their numbers.
"""

from __future__ import annotations

import ast

# What is often imported for nothing. Importing them does nothing either.
OFTEN = frozenset({
    "argparse", "datetime", "gc", "hashlib", "inspect", "json", "numpy", "os", "pathlib", "pprint", "random", "re",
    "statistics", "string", "struct", "sys", "tempfile", "textwrap", "time", "timeit", "traceback",
})  # fmt: skip


def without_idle_imports(text: str) -> str:
    """The text with empty lines for such imports at its top level; as it is where it does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    said = _said(tree)
    idle = [s for s in tree.body if isinstance(s, ast.Import | ast.ImportFrom) and _often(s) and not _binds(s) & said]
    if not idle:
        return text
    lines = text.split("\n")
    for statement in idle:
        for place in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
            lines[place : place + 1] = [""]
    left = "\n".join(lines)
    kept = ast.Module([s for s in tree.body if s not in idle], tree.type_ignores)
    return left if _same(left, kept) else text  # another statement stands on such a line


def _same(text: str, tree: ast.Module) -> bool:
    try:
        return ast.dump(ast.parse(text), include_attributes=True) == ast.dump(tree, include_attributes=True)
    except SyntaxError:
        return False


def _often(statement: ast.Import | ast.ImportFrom) -> bool:
    modules = [a.name for a in statement.names] if isinstance(statement, ast.Import) else [statement.module or ""]
    return all(module.partition(".")[0] in OFTEN for module in modules) and not getattr(statement, "level", 0)


def _binds(statement: ast.Import | ast.ImportFrom) -> set[str]:
    return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}


def _said(tree: ast.Module) -> set[str]:
    """Names that a text uses, those of attributes among them."""
    said = {"*"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            said.add(node.id)
        elif isinstance(node, ast.Attribute):
            said.add(node.attr)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            said.update(node.names)
    return said
