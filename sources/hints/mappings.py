"""Mappings whose keys a constructor goes through: what a program looks up in their entries.

``for name in heads: self.add(name, heads[name]["channels"])`` is given no list of numbers, and no key is said anywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.text.scope import nodes

KEYS = "ab"  # which keys there are, a program that goes through all of them does not mind


def gone_through(tree: ast.AST) -> dict[str, str]:
    """Expressions for the mappings of a text whose keys it goes through, by the last part of what they are called."""
    found: dict[str, str] = {}
    for loop in nodes(tree):
        if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name):
            mapping = _without_keys(loop.iter)
            entries = {ast.unparse(n) for n in ast.walk(loop) if _is_entry(n, ast.unparse(mapping), loop.target.id)}
            if entries and isinstance(mapping, ast.Name | ast.Attribute):
                name = mapping.id if isinstance(mapping, ast.Name) else mapping.attr
                found.setdefault(name, _spelled(dict.fromkeys(_fields(loop, entries))))
    return found


def _without_keys(node: ast.expr) -> ast.expr:
    """What the ``keys()`` are of, where these are gone through, in an order perhaps: ``sorted(heads)``."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("sorted", "list") and node.args:
        node = node.args[0]
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "keys"
    return node.func.value if called else node  # type: ignore[attr-defined]


def _is_entry(node: ast.AST, mapping: str, key: str) -> bool:
    """Whether an expression looks up a variable in a mapping."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.slice, ast.Name)
        and node.slice.id == key
        and ast.unparse(node.value) == mapping
    )


def _fields(loop: ast.For, entries: set[str]) -> Iterator[str]:
    """The words that are looked up in entries, or in variables that these are given to."""
    given = (n for n in ast.walk(loop) if isinstance(n, ast.Assign) and ast.unparse(n.value) in entries)
    named = entries | {ast.unparse(n.targets[0]) for n in given}
    for node in ast.walk(loop):
        field = node.slice if isinstance(node, ast.Subscript) and ast.unparse(node.value) in named else None
        if isinstance(field, ast.Constant) and isinstance(field.value, str):
            yield field.value


def _spelled(fields: dict[str, None]) -> str:
    """A mapping whose entries have these fields, and are a width each where they have none."""
    guesses = {f: next(v for v in values(f, "", Uses()) if not v.startswith("<")) for f in fields}
    entry = f"{{{', '.join(f'{f!r}: {v}' for f, v in guesses.items())}}}" if fields else values("dim", "", Uses())[0]
    return f"{{{', '.join(f'{key!r}: {entry}' for key in KEYS)}}}"
