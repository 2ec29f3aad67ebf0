"""Settings of a cut that nothing of it reads: assignments to records such as ``cfg.dataset.split = [0.8, 0.2]``.

A project's configuration holds some hundred of them; a class reads three.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sources.text.rewrite import Edits, Text, remove_statements
from sources.text.scope import is_literal, named_arguments, nodes, root_of

FEW = 8  # assignments to attributes that a reader bears
_ASSIGNED = re.compile(r"^ *(?!self\.)\w+(?:\.\w+)+ *= ", re.MULTILINE)
# What reads a record without naming what it reads; in one of the groups stands the record, with what leads to it.  Of
# calls in calls, ``sorted(list(cfg))``, each is looked at: what is looked ahead at is not gone past.
_WHOLE = re.compile(
    r"\*\*(?=([\w.]+))|(?<![\w.])([\w.]+)\.(?:items|keys|values|copy|clone|dump)\("
    r"|\b(?:vars|asdict|dict|iter|list|sorted|deepcopy)\((?=([\w.]+))|\bgetattr\((?=([\w.]+), (?!['\"]))"
)


def without_unread_settings(source: str) -> str:
    """The text without settings whose last name it says nowhere else; as it is where a record is read as a whole."""
    if len(_ASSIGNED.findall(source)) <= FEW:
        return source
    tree = ast.parse(source)
    made = _made(tree)
    found = list(_settings(tree, made))
    if len(found) <= FEW:
        return source
    if any(made.intersection(read.split(".")) for groups in _WHOLE.findall(source) for read in groups):
        return source
    said = _said(tree, {id(n) for statement, _ in found for n in ast.walk(statement.targets[0])})
    kept = {names for statement, names in found if names[-1] in said and not _is_record(statement.value)}
    kept |= {names[:n] for names in kept for n in range(1, len(names))}
    unread = {id(statement) for statement, names in found if names not in kept and names[-1] not in said}
    return source if len(unread) <= FEW else _without(source, tree, unread)


def _without(source: str, tree: ast.Module, unread: set[int]) -> str:
    edits = Edits(Text.of(source))
    remove_statements(edits, tree, lambda statement: id(statement) in unread)
    return re.sub(r"\n{4,}", "\n\n\n", edits.whole())


def _made(tree: ast.Module) -> set[str]:
    """Names of what a file makes by a call."""
    made = (s for s in tree.body if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call))
    return {t.id for s in made for t in s.targets if isinstance(t, ast.Name)}


def _settings(tree: ast.Module, made: set[str]) -> Iterator[tuple[ast.Assign, tuple[str, ...]]]:
    """Plain assignments to attributes of what is ``made``, there or in a function that it is given to."""
    functions = {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef)}
    yield from _plain(tree.body, made)
    for statement in tree.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in functions:
            function = functions.pop(call.func.id)
            yield from _plain(function.body, {p for p, name in named_arguments(call, function) if name in made})


def _plain(body: list[ast.stmt], roots: set[str]) -> Iterator[tuple[ast.Assign, tuple[str, ...]]]:
    """Assignments of literals and of new records to attributes of ``roots``, with what stands behind the root."""
    for statement in body:
        if not isinstance(statement, ast.Assign) or not (is_literal(statement.value) or _is_record(statement.value)):
            continue
        target, *more = statement.targets
        root = root_of(target)
        if isinstance(target, ast.Attribute) and not more and isinstance(root, ast.Name) and root.id in roots:
            yield statement, tuple(ast.unparse(target).split(".")[1:])


def _is_record(value: ast.expr) -> bool:
    """Whether it is a call without arguments: ``CfgNode()``."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and not value.args and not value.keywords


def _said(tree: ast.Module, apart: set[int]) -> set[str]:
    """Attributes, names and words of a text, but for nodes that stand ``apart``."""
    found: set[str] = set()
    for node in nodes(tree):
        if id(node) in apart:
            continue
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found
