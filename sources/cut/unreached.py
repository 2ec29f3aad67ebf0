"""A long program cut down to what some runs of it reached.

What was not reached becomes ``raise NotImplementedError``, so that whoever gets there after all is told; definitions,
constants and imports that nothing names any more are left out.  Layout and comments of the rest stay.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from sources.cut.pruning import pruned
from sources.text.rewrite import Edits, Text, comments_above, extent
from sources.text.scope import nodes

NOTE = "branches that none of these arguments and inputs reach are left out"
MAX_SOURCE = 100_000  # characters of a task
LONG = 40_000  # of one that is to be shorter
REFUSED = "raise NotImplementedError"
MAX_ROUNDS = 40  # in each of which something is left out
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_BLOCKS = ("body", "orelse", "finalbody")
# Statements without an instruction of their own: no run is seen to reach them.
_SILENT = (ast.Global, ast.Nonlocal, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.Pass)
# What decides how a whole function is read, wherever in it that stands.
_BINDING = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)
_GRADIENTS = frozenset(["backward", "jvp", "vjp", "setup_context"])  # of an autograd.Function: a task's user may ask


def without_unreached(source: str, reached: Collection[int], wanted: Iterable[str]) -> str:
    """The text without what no run reached, and what only that needs.

    ``reached`` are line numbers, as tracing gives them; ``wanted`` are top-level names that stay.

    Raises:
        SyntaxError: the text does not parse.
    """
    text = Text.of(source)
    edits = Edits(text)
    for statement in ast.parse(source).body:
        if isinstance(statement, _DEFINITIONS):
            _definition(edits, statement, frozenset(reached), False)
    reduced, kept = edits.whole(), set(wanted)
    for _ in range(MAX_ROUNDS):
        shorter = _without_unnamed(pruned(reduced, kept), kept)
        if shorter == reduced:
            break
        reduced = shorter
    return reduced


def _definition(edits: Edits, node: ast.stmt, reached: frozenset[int], within: bool) -> None:
    """Leave out what was not reached of a function, or of a class; ``within``: it is one of a class that was used."""
    if isinstance(node, ast.ClassDef):
        methods = [s for s in node.body if isinstance(s, _FUNCTIONS)]
        used = any(_is_reached(s, reached) for m in methods for s in m.body)
        for statement in node.body:
            if isinstance(statement, _DEFINITIONS):
                _definition(edits, statement, reached, used)
    elif isinstance(node, _FUNCTIONS):
        special = node.name.startswith("__") and node.name.endswith("__")
        if node.name not in _GRADIENTS and not (special and within and not _enters(node.body, reached)):
            _block(edits, node.body, reached)


def _enters(block: list[ast.stmt], reached: frozenset[int]) -> bool:
    return any(_is_reached(s, reached) for s in block)


def _block(edits: Edits, block: list[ast.stmt], reached: frozenset[int]) -> None:
    """Leave out the end of a block that no run came to, and so inside of its statements."""
    for number, statement in enumerate(block):
        if _is_silent(statement):
            continue
        if not _is_reached(statement, reached):
            rest = block[number:]
            if not isinstance(statement, ast.Raise) and not any(
                isinstance(n, _BINDING) for s in rest for n in nodes(s)
            ):
                _refuse(edits, rest)
            return
        if isinstance(statement, _FUNCTIONS):
            if _enters(statement.body, reached):
                _block(edits, statement.body, reached)
            continue
        if isinstance(statement, ast.ClassDef):
            _definition(edits, statement, reached, True)
            continue
        for inner in _inner(statement):
            if inner[0].lineno > statement.lineno:  # else one line says both, and who ran it reached either
                _block(edits, inner, reached)


def _inner(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks of a statement."""
    for name in _BLOCKS:
        block = getattr(statement, name, None)
        if isinstance(block, list) and block:
            yield block
    for part in [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]:
        yield part.body


def _is_silent(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, _SILENT) or isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _is_reached(statement: ast.stmt, reached: frozenset[int]) -> bool:
    """Whether a statement began to run, as far as its lines tell; one of which no line can tell did."""
    if _is_silent(statement):
        return False
    first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
    blocks = [*_inner(statement)]
    last = max(statement.lineno, blocks[0][0].lineno - 1) if blocks else statement.end_lineno or statement.lineno
    if isinstance(statement, ast.Try | ast.With | ast.While):  # ``try:`` and ``while True:`` are no instructions
        last = statement.end_lineno or last
    return not reached.isdisjoint(range(first, last + 1))


def _refuse(edits: Edits, block: list[ast.stmt]) -> None:
    """Put an error in the place of the statements."""
    text, first = edits.text, block[0]
    start, end = extent(text, first)[0], text.end(block[-1])
    if isinstance(first, ast.If) and text.data[start:].startswith(b"elif"):
        edits.replace(start, end, f"else:\n{' ' * (first.col_offset + 4)}{REFUSED}")
        return
    line = text.data.rfind(b"\n", 0, start) + 1
    if not text.data[line:start].strip():  # what is said above goes with it
        above = comments_above(text, line)
        edits.replace(above, start, text.data[line:start].decode()) if above < line else None
    edits.replace(start, end, REFUSED)


def _without_unnamed(source: str, kept: set[str]) -> str:
    """The text without methods, definitions, constants and imports that nothing else in it names."""
    tree, edits = ast.parse(source), Edits(Text.of(source))
    said = Counter(_said(tree))
    for statement in tree.body:
        own = Counter(_said(statement))
        if isinstance(statement, _DEFINITIONS) and statement.name not in kept and _goes([statement.name], said, own):
            edits.remove(statement)
        elif isinstance(statement, ast.ClassDef):
            _without_methods(edits, statement, said)
        elif isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets):
            names = [t.id for t in statement.targets if isinstance(t, ast.Name)]
            if kept.isdisjoint(names) and _goes(names, said, own):
                edits.remove(statement)
        elif isinstance(statement, ast.Import | ast.ImportFrom) and getattr(statement, "module", "") != "__future__":
            bound = [(a.asname or a.name).split(".")[0] for a in statement.names]
            if "torch" not in bound and _goes(bound, said, Counter()):
                edits.remove(statement)
    return edits.whole()


def _goes(names: list[str], said: Counter[str], own: Counter[str]) -> bool:
    return all(said[n] <= own[n] for n in names)


def _without_methods(edits: Edits, node: ast.ClassDef, said: Counter[str]) -> None:
    """Leave out methods that only refuse, or are to be said by other classes, and that nothing names."""
    methods = [s for s in node.body if isinstance(s, _FUNCTIONS) and not said[s.name]]
    out = [s for s in methods if _only_refuses(s) or any("abstract" in ast.unparse(d) for d in s.decorator_list)]
    rest = [s for s in node.body if s not in out]
    for i, statement in enumerate(out):
        edits.remove(statement, "pass" if not rest and i == 0 else "")


def _only_refuses(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    told = [s for s in node.body if not _is_silent(s)]
    return len(told) == 1 and isinstance(told[0], ast.Raise) and ast.unparse(told[0]) == REFUSED


def _said(tree: ast.AST) -> Iterator[str]:
    """All names that a tree says: read, bound, as attributes, and as words."""
    for node in nodes(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"[^\W\d]\w*", node.value) if len(node.value) < 200 else ()
