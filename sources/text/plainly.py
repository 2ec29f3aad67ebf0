"""Calls in whose place a task says what they come to: what is compiled, what ends the program, what a package holds."""

from __future__ import annotations

import ast

from sources.text.rewrite import Edits, Text, first_import
from sources.text.scope import is_literal, nodes, walk

_COMPILE = frozenset(["torch.compile", "torch.jit.script", "jit.script"])
_END = frozenset(["exit", "quit", "sys.exit"])
HELD = "torchvision.models"  # the module of a package out of which networks are taken by computed names
HELD_AS = HELD.replace(".", "_")


def without_compiling(text: str, tree: ast.Module) -> str:
    """The text with what is compiled as it is: ``self.f = torch.compile(f, fullgraph=True)`` is f."""
    if "torch.compile(" not in text and "jit.script(" not in text:
        return text
    edits = Edits(Text.of(text))
    for call in (n for n in nodes(tree) if isinstance(n, ast.Call) and ast.unparse(n.func) in _COMPILE):
        if call.args and not isinstance(call.args[0], ast.Starred):
            edits.replace(edits.text.start(call), edits.text.start(call.args[0]), "(")
            edits.replace(edits.text.end(call.args[0]), edits.text.end(call), ")")
    return edits.whole()


def with_errors(text: str, tree: ast.Module) -> str:
    """The text with an error where a function ends the whole program as it was given something wrong: ``exit()``."""
    if not any(f"{name}(" in text for name in _END):
        return text
    edits = Edits(Text.of(text))
    inside = (s for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef) for s in walk(n))
    for statement in inside:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func) in _END and all(map(is_literal, call.args)):
            said = ast.unparse(call.args[0]) if call.args else ""
            edits.replace(edits.text.start(call), edits.text.end(call), f"raise RuntimeError({said})")
    return edits.whole()


def with_held(text: str, tree: ast.Module) -> str:
    """The text with a name of its own for the module whose networks are taken by name, which ``getattr`` is given.

    ``getattr(torchvision.models, arch)``: of a module that has a name it is known what is taken out of it.
    """
    if HELD not in text:
        return text
    found = [h for n in nodes(tree) for h in _holders(n) if ast.unparse(h) == HELD]
    first = first_import(tree)
    if not found or first is None:
        return text
    edits = Edits(Text.of(text))
    for node in found:
        edits.replace(edits.text.start(node), edits.text.end(node), HELD_AS)
    start = edits.text.start(first)
    edits.replace(start, start, f"import {HELD} as {HELD_AS}\n")
    return edits.whole()


def _holders(node: ast.AST) -> list[ast.expr]:
    """What something is taken out of by a computed name: ``getattr(holder, name)``, ``holder.__dict__[name]``."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr" and len(node.args) > 1:
        return node.args[:1] if not isinstance(node.args[1], ast.Constant) else []
    value = node.value if isinstance(node, ast.Subscript) else None
    return [value.value] if isinstance(value, ast.Attribute) and value.attr == "__dict__" else []
