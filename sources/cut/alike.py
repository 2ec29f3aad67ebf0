"""How a statement is changed whatever task it becomes part of: without prints, on the CPU, for torch as it is now.

One definition is part of many cuts; what depends on the other definitions of one, the names, ``writer`` sees to.
"""

from __future__ import annotations

import ast

from sources.cut.pieces import Piece
from sources.cut.slicer import Slicer
from sources.text.environment import read_in
from sources.text.older import as_of_now
from sources.text.on_cpu import ORDINAL, moved, respelled
from sources.text.rewrite import Edits, remove_statements
from sources.text.scope import nodes, root_of
from sources.text.targets import External, Inner
from sources.text.weights import refused


def begun(slicer: Slicer, piece: Piece) -> Edits:
    """Edits of a piece's file, with what is changed in the piece by itself; they are the caller's to add to."""
    text, key = slicer.text(piece.key.file), (id(piece.view), slicer.registers(piece.node))
    if key not in slicer.changes:
        edits = Edits(text)
        _left_out(slicer, piece, edits)
        _respelled(slicer, piece, edits)
        slicer.changes[key] = edits.changes
    return Edits(text, [*slicer.changes[key]])


def _left_out(slicer: Slicer, piece: Piece, edits: Edits) -> None:
    """Take out methods and statements that a task does without, and decorators."""
    text = edits.text
    out = {id(n) for n in _pruned(piece)} | set(slicer.dead(piece.key.file, piece.node))
    if out:
        remove_statements(edits, piece.node, lambda s: id(s) in out, refused(piece.node))
    for node in nodes(piece.view):
        for decorator in getattr(node, "decorator_list", []):
            if slicer.is_noise(piece.key.file, decorator):
                line = text.lines[decorator.lineno]
                edits.replace(line, text.line_end(text.end(decorator)) + 1, "")


def _pruned(piece: Piece) -> list[ast.stmt]:
    """Methods that the piece leaves out."""
    if not isinstance(piece.node, ast.ClassDef) or not isinstance(piece.view, ast.ClassDef):
        return []
    kept = {id(s) for s in piece.view.body}
    return [s for s in piece.node.body if id(s) not in kept]


def _respelled(slicer: Slicer, piece: Piece, edits: Edits) -> None:
    """Say devices, variables of the environment and what was of old as a task has them."""
    text, every = edits.text, nodes(piece.view)
    for call in moved(every):
        dot = text.data.rfind(b".", 0, text.end(call.func))  # the value before it may be in parentheses
        edits.replace(dot, text.end(call), "")
    for constant, new in respelled(piece.view):
        if isinstance(constant, ast.Name):
            edits.rename(constant, new)
        elif not _asks_module(slicer, piece, constant):
            edits.replace(text.start(constant), text.end(constant), new)
    for read, told in read_in(every, slicer.package.environment):
        edits.replace(text.start(read), text.end(read), told)
    as_of_now(every, edits, lambda n: slicer.target(piece, n) == External("torch"))


def _asks_module(slicer: Slicer, piece: Piece, asked: ast.expr) -> bool:
    """Whether a tensor's method, ``x.get_device()``, is a module's function of that name."""
    if not isinstance(asked, ast.Call) or not isinstance(asked.func, ast.Attribute) or asked.func.attr != ORDINAL:
        return False
    root = root_of(asked.func)
    return isinstance(root, ast.Name) and isinstance(slicer.target(piece, root.id), Inner)
