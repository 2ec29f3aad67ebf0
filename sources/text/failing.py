"""Statements at the top of a text that fail where it is executed: what they make is absent, like a package that is.

A logger that wants a terminal, an environment that is made for a simulation: few classes use them.
"""

from __future__ import annotations

import ast
import re
import traceback
from pathlib import Path

from sources.text.rewrite import Edits, Text
from sources.text.scope import nodes

NOTE = "what cannot be made here is absent"
_LOGGER = re.compile(r"(?i)log")
_TEXT = re.compile(r"cut_\d+\.py")  # the file of a text that is executed


def failed_at(error: BaseException) -> int:
    """The line of the text's top-level statement at which executing it failed; 0 where it failed later."""
    frames = (f for f in traceback.extract_tb(error.__traceback__) if f.name == "<module>")
    return next((f.lineno or 0 for f in frames if _TEXT.fullmatch(Path(f.filename).name)), 0)


def without_failing(source: str, line: int) -> str:
    """The text with None, or Python's own logger, in place of what the assignment, or the class, at a line makes.

    And with None in place of what other assignments, and the bodies of classes, make of it.  The same text where there
    is none.
    """
    edits, absent = Edits(Text.of(source)), set[str]()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and (_holds(node, line) or not absent.isdisjoint(_read_at_once(node))):
            edits.remove(node, f"{node.name} = None")
            absent.add(node.name)
        if not isinstance(node, ast.Assign) or isinstance(node.value, ast.Constant):
            continue
        read = {n.id for n in nodes(node.value) if isinstance(n, ast.Name)}
        if not node.lineno <= line <= (node.end_lineno or 0) and read.isdisjoint(absent):
            continue
        logs = not absent and _LOGGER.search(ast.unparse(node)) is not None
        absent |= {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)} if not logs else set()
        start = edits.text.start(node)
        edits.replace(start, start, "from logging import getLogger\n\n" if logs else "")
        made = "getLogger()" if logs else _nothing(node.targets[0])
        edits.replace(edits.text.start(node.value), edits.text.end(node.value), made)
    return edits.whole()


def _holds(node: ast.ClassDef, line: int) -> bool:
    """Whether a class, by its decorators and bases, is at a line: what its body does fails there, too."""
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return first <= line < max(node.lineno + 1, node.body[0].lineno)


def _read_at_once(node: ast.ClassDef) -> set[str]:
    """Names that are read when a class is defined: its methods read theirs when they are called."""
    plain = (s for s in node.body if not isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))
    values = (s.value if isinstance(s, ast.AnnAssign) else s for s in plain)
    every = [*node.bases, *node.decorator_list, *(v for v in values if v is not None)]
    return {n.id for part in every for n in nodes(part) if isinstance(n, ast.Name)}


def _nothing(target: ast.expr) -> str:
    """What an assignment is to make where it makes nothing: None, for each variable that takes a part."""
    plain = isinstance(target, ast.Tuple | ast.List) and not any(isinstance(e, ast.Starred) for e in target.elts)
    return f"(None,) * {len(target.elts)}" if plain else "None"  # type: ignore[attr-defined]
