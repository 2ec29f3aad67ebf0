"""Lines that a candidate's text has for nothing: ``import os`` stands at the head of many an honest kernel.

So do settings of torch's own products and convolutions, which no candidate may call, as far as they make these stricter
or are about their speed.  The trusted side.  Such a line is left out before anything is asked of the text, so that it
is never executed; lines keep their numbers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from kdata.verify.constants import sayable

# What is often imported for nothing. Importing them does nothing either.
OFTEN = frozenset({
    "argparse", "datetime", "gc", "hashlib", "importlib", "inspect", "json", "numpy", "os", "pathlib", "pprint",
    "random", "re", "statistics", "string", "struct", "sys", "tempfile", "textwrap", "time", "timeit", "traceback",
})  # fmt: skip
SETTINGS = re.compile(
    r"torch\.backends\.(cuda\.matmul|cudnn)\.allow_tf32 = False|torch\.backends\.cudnn\.(benchmark|deterministic) = \w+"
    r"|torch\.set_float32_matmul_precision\('highest'\)|torch\.use_deterministic_algorithms\(True\)"
)


def without_idle_lines(text: str) -> str:
    """The text without such imports and settings at its top level; as it is where it does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    if not sayable(tree):
        return text
    said, lines = _said(tree), text.split("\n")
    idle = {id(s): left for s in tree.body if (left := _left(s, said)) is not s}
    for statement in (s for s in tree.body if id(s) in idle):
        left, first = idle[id(statement)], statement.lineno - 1
        for place in range(first, statement.end_lineno or statement.lineno):
            lines[place] = ast.unparse(left) if left and place == first else ""
    shorter = "\n".join(lines)
    kept = [left for s in tree.body if (left := idle.get(id(s), s))]
    return shorter if idle and _same(shorter, kept, idle.values()) else text  # another one stands on such a line


def _left(statement: ast.stmt, said: set[str]) -> ast.stmt | None:
    """What is left of a statement: itself, an import of fewer modules, or nothing."""
    if isinstance(statement, ast.ImportFrom):
        idle = not statement.level and _often(statement.module or "") and not _binds(statement) & said
        return None if idle else statement
    if isinstance(statement, ast.Import):
        used = [a for a in statement.names if not _often(a.name) or _binds(ast.Import([a])) & said]
        return statement if len(used) == len(statement.names) else ast.Import(used) if used else None
    return None if SETTINGS.fullmatch(ast.unparse(statement)) else statement


def _same(text: str, statements: list[ast.stmt], changed: Collection[ast.stmt | None]) -> bool:
    """Whether a text is these statements, all that did not change where they stood."""
    try:
        found = ast.parse(text).body
    except SyntaxError:
        return False

    def dumped(node: ast.stmt, like: ast.stmt) -> str:
        return ast.dump(node, include_attributes=like not in changed)

    return len(found) == len(statements) and all(
        dumped(one, other) == dumped(other, other) for one, other in zip(found, statements, strict=True)
    )


def _often(module: str) -> bool:
    return module.partition(".")[0] in OFTEN


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
