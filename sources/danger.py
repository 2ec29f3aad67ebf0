"""What a task has no business with: strangers will run it. Only what shows; the sandbox does the rest."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sources.scope import nodes, reads

DANGEROUS = {"open", "exec", "eval", "input", "compile", "breakpoint", "__import__"}
SUSPECT = re.compile(rf"(?<![.\w])(?:os|sys|{'|'.join(sorted(DANGEROUS))})\b")
# Of os and sys. What ends a program that was given something wrong is an exception like others.
HARMLESS = {"exit", "environ", "getenv", "path", "version_info", "maxsize", "float_info", "platform"}


def touches_system(source: str) -> str:
    """The name by which a text touches the system, "" where it does not."""
    if not SUSPECT.search(source):
        return ""
    tree = ast.Module(list(_suspects(source)), [])
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in ("os", "sys"):
            return node.module
    return dangerous(tree)


def dangerous(tree: ast.AST) -> str:
    """The name of the system's that a tree reads, "" where it reads none."""
    every = nodes(tree)
    if not any(isinstance(n, ast.Name) and (n.id in DANGEROUS or n.id in ("os", "sys")) for n in every):
        return ""
    fine = {id(n.value) for n in every if isinstance(n, ast.Attribute) and n.attr in HARMLESS}
    named = (n for n in reads(tree).names if n.id in DANGEROUS or (n.id in ("os", "sys") and id(n) not in fine))
    return next((n.id for n in named), "")


def _suspects(source: str) -> Iterator[ast.stmt]:
    """The statements that say a name of the system's: whatever binds or reads one is among them."""
    lines, before = source.splitlines(), 0
    for statement in ast.parse(source).body:
        end = statement.end_lineno or len(lines)
        if any(map(SUSPECT.search, lines[min(before, statement.lineno - 1) : end])):
            yield statement
        before = end
