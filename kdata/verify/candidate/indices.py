"""Indices that a kernel computes with fractions: float32 holds whole numbers up to 2^24 only.

``(i / cols).to(tl.int32)`` names the right row of every tensor that a judge can afford, and wrong ones of those with
more than sixteen million elements.  Of an index that has been cut to one dimension by a remainder nothing is said.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from kdata.verify.candidate.subset import jitted
from kdata.verify.constants import name_of
from kdata.verify.evidence.findings import Findings

CHECK = "computes its indices in whole numbers"
PLACES = frozenset({"program_id", "arange"})
COUNTED_SO: Final = "in fractions"  # what is looked for, and found, at sizes where it shows
WHOLE = frozenset({"int32", "int64", "uint32", "uint64"})
FRACTIONS = frozenset({"float32", "float16", "bfloat16"})
CUTTING = (ast.Mod, ast.FloorDiv, ast.RShift, ast.BitAnd)


def tell(text: str, found: Findings) -> None:
    """Note where a kernel does so."""
    lines = sorted(set(in_fractions(text)))
    found.check(CHECK, not lines, f"line {lines[0]}: wrong beyond 2^24 elements" if lines else "")


def may_count(text: str) -> bool:
    """Whether a kernel makes numbers with fractions of some, and whole ones of some, be they places or not."""
    nodes = [node for kernel in jitted(ast.parse(text)) for node in ast.walk(kernel)]
    back = any(_cast(node, WHOLE) is not None for node in nodes)
    divides = any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) for node in nodes)
    return back and (divides or any(_cast(node, FRACTIONS) is not None for node in nodes))


def in_fractions(text: str) -> Iterator[int]:
    """Lines in which a place among all elements becomes a whole number again after it has had a fraction."""
    for kernel in jitted(ast.parse(text)):
        places = _names(kernel, _place)
        fractions = _names(kernel, partial(_fraction, places))
        for node in ast.walk(kernel):
            if (given := _cast(node, WHOLE)) is not None and _fraction(places, given, fractions):
                yield given.lineno


def _names(kernel: ast.FunctionDef, holds: Callable[[ast.expr, set[str]], bool]) -> set[str]:
    """Names of a kernel that are bound to what holds, given those that are."""
    names: set[str] = set()
    while True:
        before = len(names)
        for node in ast.walk(kernel):
            if isinstance(node, ast.Assign) and holds(node.value, names):
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        if len(names) == before:
            return names


def _place(node: ast.expr, names: set[str]) -> bool:
    """Whether it is a program's number and a lane's together, or follows from such, and is not cut to one dimension."""
    parts = list(ast.walk(node))
    cut = any(isinstance(p, ast.Compare) or (isinstance(p, ast.BinOp) and isinstance(p.op, CUTTING)) for p in parts)
    called = {name_of(p.func) for p in parts if isinstance(p, ast.Call)}
    named = {p.id for p in parts if isinstance(p, ast.Name)}
    return not cut and "load" not in called and (bool(named & names) or called >= PLACES)


def _fraction(places: set[str], node: ast.AST, names: set[str]) -> bool:
    """Whether it is a place in floating point, or follows from one."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Call) and (name_of(node.func) == "load" or _cast(node, WHOLE) is not None):
        return False
    made = _cast(node, FRACTIONS)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        made = node.left
    if made is not None and _place(made, places):
        return True
    return any(_fraction(places, child, names) for child in ast.iter_child_nodes(node))


def _cast(node: ast.AST, kinds: frozenset[str]) -> ast.expr | None:
    """What is cast to one of these types: ``x.to(tl.int32)``, ``tl.cast(x, tl.int32)``; None for another node."""
    if not (isinstance(node, ast.Call) and node.args and name_of(node.func) in ("to", "cast")):
        return None
    given = node.args[0] if name_of(node.func) == "cast" else getattr(node.func, "value", None)
    return given if name_of(node.args[-1]) in kinds else None
