"""Mappings whose keys a constructor goes through: what a program looks up in their entries, or reads of them.

``for name in heads: self.add(name, heads[name]["channels"])`` is given no list of numbers, and no key is said anywhere.
Nor is it in ``[shape.channels for name, shape in shapes.items()]``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.text.scope import nodes

KEYS = "ab"  # which keys there are, a program that goes through all of them does not mind
STRIDE = 4  # of the first level of a pyramid


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
    for name, fields in _records(tree).items():
        found.setdefault(name, _of_records(fields))
    return found


def _records(tree: ast.AST) -> dict[str, dict[str, None]]:
    """The attributes that are read of what mappings hold, by what these are called: they go through its ``items()``."""
    found: dict[str, dict[str, None]] = {}
    holding = set[str]()
    for node in nodes(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "items":
            holding.add(_name(node.func.value))
        elif isinstance(node, ast.ListComp | ast.For):
            loop = node if isinstance(node, ast.For) else node.generators[0]
            held = loop.target.elts[1:] if isinstance(loop.target, ast.Tuple) and len(loop.target.elts) == 2 else []
            read = (n for n in ast.walk(node) if held and isinstance(n, ast.Attribute))
            fields = [n.attr for n in read if ast.unparse(n.value) == ast.unparse(held[0])]
            found.setdefault(_name(loop.iter), {}).update(dict.fromkeys(fields))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "sorted" and node.args:
            found.setdefault(_name(node.args[0]), {}).update(dict.fromkeys(_compared(node)))
    return {name: fields for name, fields in found.items() if fields and name in holding}


def _compared(call: ast.Call) -> Iterator[str]:
    """The attributes of the values of pairs by which these are put in order: ``key=lambda x: x[1].stride``."""
    for key in (k.value for k in call.keywords if k.arg == "key"):
        if isinstance(key, ast.Lambda) and key.args.args:
            value = f"{key.args.args[0].arg}[1]"
            yield from (n.attr for n in ast.walk(key) if isinstance(n, ast.Attribute) and ast.unparse(n.value) == value)


def _name(node: ast.expr) -> str:
    """What is gone through, by its last name, in whatever order: ``sorted(shapes.items())``; "" for others."""
    while isinstance(node, ast.Call):
        inner = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0] if node.args else None
        if inner is None:
            return ""
        node = inner
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _of_records(fields: Mapping[str, None]) -> str:
    """A mapping of records that have these fields; strides are those of the levels of a pyramid."""
    held = []
    for level, key in enumerate(KEYS):
        guesses = {f: next(v for v in values(f, "", Uses()) if not v.startswith("<")) for f in fields}
        said = {f: str(STRIDE << level) if f == "stride" else v for f, v in guesses.items()}
        held.append(f"{key!r}: SimpleNamespace({', '.join(f'{f}={v}' for f, v in said.items())})")
    return f"{{{', '.join(held)}}}"


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
