"""Modules that run in evaluation mode only: ``if self.training:`` asks for targets, answers with losses, draws.

Their text is read as if ``self.training`` were False: a task is the network that answers, not its training step.
"""

from __future__ import annotations

import ast

from sources.text.rewrite import Edits, Text, extent, remove_statements
from sources.text.scope import nodes

NOTE = "what it does in training only is left out"
FLAG = "self.training"
MAX_CHANGES = 60  # of one text


def inferring(source: str) -> str:
    """The text without branches that are taken in training only; the same text where it has none."""
    if FLAG not in source:
        return source
    edits = Edits(Text.of(source))
    try:
        # each by itself: a change is found in a text that is parsed anew, which of a whole program takes long
        for statement in ast.parse(source).body:
            start, end = edits.text.start(statement), edits.text.end(statement)
            text = edits.text.data[start:end].decode()
            if FLAG in text and (changed := _changed(text)) != text:
                edits.replace(start, end, changed)
    except SyntaxError:  # a layout that is not foreseen here
        return source
    return edits.whole()


def _changed(text: str) -> str:
    """One statement of the top level without such branches; as it is where it has too many."""
    changed = text
    for _ in range(MAX_CHANGES):
        tree, edits = ast.parse(changed), Edits(Text.of(changed))
        _change_first(tree, edits)
        if not edits.changes:
            return changed
        changed = edits.whole()
        ast.parse(changed)
    return text


def _change_first(tree: ast.Module, edits: Edits) -> None:
    """Decide the first test on the mode."""
    for node in nodes(tree):
        if isinstance(node, ast.If) and (taken := _truth(node.test)) is not None:
            _choose(tree, edits, node, node.body if taken else node.orelse)
            return
        if isinstance(node, ast.IfExp) and (taken := _truth(node.test)) is not None:
            chosen = node.body if taken else node.orelse
            text = edits.text.data[edits.text.start(chosen) : edits.text.end(chosen)].decode()
            edits.replace(edits.text.start(node), edits.text.end(node), f"({text})")
            return


def _truth(test: ast.expr) -> bool | None:
    """The outcome of a test in evaluation mode, None where that depends on something else."""
    if isinstance(test, ast.Attribute):
        return False if ast.unparse(test) == FLAG else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _truth(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        decisive = isinstance(test.op, ast.Or)
        found = [_truth(v) for v in test.values]
        return decisive if decisive in found else None if None in found else not decisive
    return None


def _choose(tree: ast.Module, edits: Edits, node: ast.If, block: list[ast.stmt]) -> None:
    """Put one block of a statement in its place."""
    text = edits.text
    start, end = text.start(node), text.end(node)
    chained, further = _is_elif(text, node), bool(block) and block is node.orelse and _is_elif(text, block[0])
    if further:  # ``if self.training: ... elif other: ...`` goes on with the other test
        edits.replace(start, text.start(block[0]) + (0 if chained else len("el")), "")
    elif chained:
        said = text.data[text.start(block[0]) : text.end(block[-1])].decode() if block else "pass"
        edits.replace(start, end, f"else:\n{' ' * (block[0].col_offset if block else node.col_offset + 4)}{said}")
    elif block:
        _lift(tree, edits, node, block)
    else:
        remove_statements(edits, tree, lambda s: s is node)


def _lift(tree: ast.Module, edits: Edits, node: ast.If, block: list[ast.stmt]) -> None:
    """Put a block in the place of the statement that it is part of, a step to the left."""
    text, step, quoted = edits.text, block[0].col_offset - node.col_offset, _inside_strings(tree)
    first, last = extent(text, block[0])[0], text.end(block[-1])
    edits.replace(text.start(node), first, "")
    if last < text.end(node):
        edits.replace(last, text.end(node), "")
    for line in range(block[0].lineno + 1, (block[-1].end_lineno or 0) + 1):
        at = text.lines[line]
        if line not in quoted and not text.data[at : at + step].strip():
            edits.replace(at, min(at + step, text.line_end(at)), "")


def _is_elif(text: Text, node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and text.data[text.start(node) :].startswith(b"elif")


def _inside_strings(tree: ast.AST) -> set[int]:
    """Lines that start inside of a string: their blanks are no indentation."""
    found: set[int] = set()
    for node in nodes(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno and node.end_lineno > node.lineno:
            found |= set(range(node.lineno + 1, node.end_lineno + 1))
    return found
