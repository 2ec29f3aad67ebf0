"""What each call writes into weights, kept within the call: another call begins with what the first one began with.

Spectral normalisation of old goes on with a power iteration wherever it is called, ``u.data = normalised(w @ v)``, in
evaluation, too: no two calls on one input answer alike.  With ``u = normalised(w @ v)`` each answers as the first.
"""

from __future__ import annotations

import ast
import re

from sources.text.rewrite import Edits, RewriteError, Text
from sources.text.scope import nodes

NOTE = "what a call computes of its state it keeps to itself"
_CONSTRUCTORS = re.compile(r"__init__|_?(make|build|create|add|init|reset|set|load)(_?\w*|[A-Z]\w*)")


def kept_within(source: str) -> str:
    """The text with variables in place of what calls write into their weights' data; the same where none does."""
    edits = Edits(Text.of(source))
    for function in nodes(ast.parse(source)):
        if isinstance(function, ast.FunctionDef) and not _CONSTRUCTORS.fullmatch(function.name):
            bound = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            for statement in ast.walk(function):
                _keep(edits, statement, bound)
    try:
        return edits.whole() if edits.changes else source
    except RewriteError:
        return source


def _keep(edits: Edits, statement: ast.AST, bound: set[str]) -> None:
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr="data") as target]) if name in bound:
            edits.replace(edits.text.start(target), edits.text.end(target), name)
