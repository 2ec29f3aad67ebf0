"""What each call writes into weights, kept within the call: another call begins with what the first one began with.

Spectral normalisation of old goes on with a power iteration wherever it is called, ``u.data = normalised(w @ v)``, in
evaluation, too: no two calls on one input answer alike.  With ``u = normalised(w @ v)`` each answers as the first.
So it does without what is done at its end only for the next one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sources.text.rewrite import Edits, Text
from sources.text.scope import nodes

NOTE = "what a call computes of its state it keeps to itself"
_CONSTRUCTORS = re.compile(r"__init__|_?(make|build|create|add|init|reset|set|load)(_?\w*|[A-Z]\w*)")


def kept_within(source: str) -> str:
    """The text with variables in place of what calls write into their weights' data; the same where none does."""
    edits = Edits(Text.of(source))
    tree = ast.parse(source)
    for forward in (n for n in nodes(tree) if isinstance(n, ast.FunctionDef) and n.name == "forward"):
        for last in _for_the_next(forward):
            edits.replace(edits.text.start(last), edits.text.end(last), "pass")
    for function in nodes(tree):
        if isinstance(function, ast.FunctionDef) and not _CONSTRUCTORS.fullmatch(function.name):
            bound = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            for statement in ast.walk(function):
                _keep(edits, statement, bound)
    return edits.whole()


def _for_the_next(forward: ast.FunctionDef) -> Iterator[ast.stmt]:
    """The last things that a call does with the module, for the next one: its answer is known by then.

    A running mean of what was seen, ``self.update_center(x)``, a queue of it.
    """
    answers = isinstance(forward.body[-1], ast.Return)
    for statement in reversed(forward.body if answers else []):
        if _leaves_behind(statement):
            yield statement
        elif any(isinstance(n, ast.Name) and n.id == "self" for n in ast.walk(statement)):
            return


def _leaves_behind(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but change the module, as far as its text tells."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute() as done)):
            return ast.unparse(done).startswith("self.")
        case (
            ast.Assign(targets=[ast.Attribute() | ast.Subscript() as target])
            | ast.AugAssign(target=ast.Attribute() | ast.Subscript() as target)
        ):
            return ast.unparse(target).startswith("self.")
        case ast.With(body=body) | ast.If(body=body, orelse=[]):
            return all(map(_leaves_behind, body))
    return False


def _keep(edits: Edits, statement: ast.AST, bound: set[str]) -> None:
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr="data") as target]) if name in bound:
            edits.replace(edits.text.start(target), edits.text.end(target), name)
