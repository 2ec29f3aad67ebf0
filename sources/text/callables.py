"""Layers that ``forward`` is given beside its tensors, ``forward(x, sublayer)``, become layers of the module's own.

A task's inputs are tensors and numbers; what computes belongs to the constructor, where it is found as any other part.
"""

from __future__ import annotations

import ast
import re

from sources.text.rewrite import Edits, Text
from sources.text.scope import nodes

NOTE = "a layer that forward took beside its inputs is the constructor's"
WANTED = re.compile(r"object is not callable")  # what a tensor says in a layer's place


def owned(source: str, name: str) -> tuple[str, list[str]]:
    """The text with what the ``forward`` of a class calls of its parameters given to its constructor, first of all.

    And what that takes so, in order; none where the class has no constructor and ``forward`` of its own, or calls none.
    """
    kind = next((n for n in ast.parse(source).body if isinstance(n, ast.ClassDef) and n.name == name), None)
    methods = {f.name: f for f in kind.body if isinstance(f, ast.FunctionDef)} if kind else {}
    forward, constructor = methods.get("forward"), methods.get("__init__")
    if kind is None or forward is None or constructor is None or not constructor.args.args:
        return source, []
    called = _called(forward)
    if not called or len(called) == len(forward.args.args) - 1 - len(forward.args.defaults):  # an input is to be left
        return source, []
    edits = Edits(Text.of(source))
    _take_out(edits, forward, called)
    edits.replace(*(edits.text.end(constructor.args.args[0]),) * 2, "".join(f", {p}" for p in called))
    last = constructor.body[-1]
    indent = "\n" + " " * constructor.body[0].col_offset
    edits.replace(*(edits.text.end(last),) * 2, "".join(f"{indent}self.{_held(p)} = {p}" for p in called))
    changed = edits.whole()
    try:
        ast.parse(changed)
    except SyntaxError:  # a layout that is not foreseen here
        return source, []
    return changed, called


def _held(parameter: str) -> str:
    """The attribute that holds what a parameter was; a name that no class has by chance."""
    return f"given_{parameter}"


def _called(forward: ast.FunctionDef) -> list[str]:
    """Parameters without a default that a forward calls, and does nothing else with."""
    plain = forward.args.args[1 : len(forward.args.args) - len(forward.args.defaults)]
    functions = {n.func.id for n in nodes(forward) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    reads = [n.id for n in nodes(forward) if isinstance(n, ast.Name)]
    calls = [n.func.id for n in nodes(forward) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    return [p.arg for p in plain if p.arg in functions and reads.count(p.arg) == calls.count(p.arg)]


def _take_out(edits: Edits, forward: ast.FunctionDef, called: list[str]) -> None:
    """Leave parameters out of a forward's signature, and read them from the module in its first lines."""
    for before, parameter in zip(forward.args.args, forward.args.args[1:], strict=False):
        if parameter.arg in called:
            edits.replace(edits.text.end(before), edits.text.end(parameter), "")
    first = forward.body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(forward.body) > 1
    statement = forward.body[1 if told else 0]
    indent = " " * statement.col_offset
    lines = "".join(f"{p} = self.{_held(p)}\n{indent}" for p in called)
    edits.replace(*(edits.text.start(statement),) * 2, lines)
