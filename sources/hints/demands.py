"""What a constructor's own checks ask for: the tests around the statement that failed, read as wishes.

``raise`` in the last branch of a chain asks for one of its constants, ``assert`` for its test to hold, a look-up for
one of the keys that there are.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import re
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sources.hints.expressions import MISSING, is_length, named, value
from sources.hints.guesses import values as guessed
from sources.hints.uses import Uses
from sources.hints.wished import MAX_VALUES, instances, of_length, of_rank, spelled
from sources.infer.constructor.configs import CONFIG
from sources.text.remembered import parsed

MAX_FRAMES = 3  # of the program, innermost first
_TURNED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
           ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Demand:
    """Something is to have another value: what it is called, what it is now, expressions that would do."""

    name: str  # of a variable or attribute, without what it is an attribute of
    value: Any
    wanted: tuple[str, ...]


def demands(error: Exception, tree: ast.Module, file: str) -> list[Demand]:
    """What the statements of a program that raised an error ask for; ``tree`` is that of its ``file``."""
    found: list[Demand] = []
    for path, values in _failing(error, tree, file):
        found += _looked_up(error, path[-1], values)
        found += _asked(error, path, values)
    found += _unset(error, tree)
    return [d for d in dict.fromkeys(_hashable(found)) if d.wanted]


def of_call(error: Exception, file: str) -> list[Demand]:
    """What a call of a module that failed asks of its constructor's arguments; ``file`` is the program's."""
    try:
        tree = parsed("".join(linecache.getlines(file)))
    except SyntaxError:
        return []
    found = [*_unset(error, tree)]
    for path, values in _failing(error, tree, file):
        found += _uneven(error, path[-1], values)
        checked = isinstance(path[-1], ast.Assert | ast.Raise) or isinstance(error, UnboundLocalError)
        found += _asked(error, path, values) if checked else ()
    return [d for d in dict.fromkeys(_hashable(found)) if d.wanted]


def _failing(error: Exception, tree: ast.Module, file: str) -> Iterator[tuple[list[ast.stmt], dict[str, Any]]]:
    """The statements of a program that failed, each with those around it and the variables of its frame."""
    frames = [(f, line) for f, line in traceback.walk_tb(error.__traceback__) if f.f_code.co_filename == file]
    for frame, line in frames[::-1][:MAX_FRAMES]:
        if path := statements(tree, line):
            yield path, {**frame.f_globals, **frame.f_locals}


def _hashable(found: list[Demand]) -> Iterator[Demand]:
    for demand in found:
        try:
            hash(demand)
            yield demand
        except TypeError:
            yield Demand(demand.name, MISSING, demand.wanted)


def statements(tree: ast.AST, line: int) -> list[ast.stmt]:
    """The statements that a line is part of, outermost first."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt | ast.ExceptHandler) and node.lineno <= line <= (node.end_lineno or 0):
            return [*([node] if isinstance(node, ast.stmt) else []), *statements(node, line)]
    return []


def _asked(error: Exception, path: list[ast.stmt], values: Mapping[str, Any]) -> Iterator[Demand]:
    """Wishes of the checks that a failing statement is, or is the outcome of."""
    last = path[-1]
    if isinstance(last, ast.Assert):
        yield from _wishes(last.test, True, values)
    elif isinstance(last, ast.Raise):
        yield from _unmatched(last, path, values)  # the first word of a row is more usual than the last
        inner: ast.stmt = last
        for outer in reversed(path[:-1]):
            if not isinstance(outer, ast.If):
                break
            yield from _wishes(outer.test, inner in outer.orelse, values)
            inner = outer
    if not isinstance(last, ast.Assert):
        yield from _avoided(path, values)
    if isinstance(error, NameError):  # in a branch that was not taken
        function = next((s for s in reversed(path) if isinstance(s, ast.FunctionDef)), None)
        for node in ast.walk(function) if function else ():
            if isinstance(node, ast.If) and any(_binds(node, name) for name in str(error).split("'")[1:2]):
                yield from _wishes(node.test, True, values)


def _unmatched(last: ast.Raise, path: list[ast.stmt], values: Mapping[str, Any]) -> Iterator[Demand]:
    """What raises after a row of branches, each for a word, asks for one of these words."""
    function = next((s for s in reversed(path) if isinstance(s, ast.FunctionDef)), path[0])
    rows: dict[str, tuple[ast.expr, dict[str, None]]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.If) and node.lineno < last.lineno and isinstance(node.test, ast.Compare):
            _, row = rows.setdefault(ast.dump(node.test.left), (node.test.left, {}))
            row.update(dict.fromkeys(_words(node.test)))
    for left, row in rows.values():
        yield _demand(left, [*row], values)


def _avoided(path: list[ast.stmt], values: Mapping[str, Any]) -> Iterator[Demand]:
    """A branch that fails need not be entered, where a flag, or one of some words, decides that."""
    function = next((s for s in reversed(path) if isinstance(s, ast.FunctionDef)), path[0])
    for outer, inner in zip(reversed(path[:-1]), reversed(path), strict=False):
        if not isinstance(outer, ast.If) or inner not in outer.body:
            continue
        if isinstance(outer.test, ast.Name | ast.Attribute):
            yield _demand(outer.test, ["False", "None"], values)
        elif choices := _choices(outer.test):
            asked, alike = {ast.unparse(c.comparators[0]) for c in choices}, ast.dump(choices[0].left)
            for node in ast.walk(function):  # of other words, those that only raise do not do either
                if isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise):
                    asked |= {ast.unparse(c.comparators[0]) for c in _choices(node.test) if ast.dump(c.left) == alike}
            others = (c for n in ast.walk(function) for c in _choices(n) if ast.dump(c.left) == alike)
            words = dict.fromkeys(ast.unparse(c.comparators[0]) for c in others)
            yield _demand(choices[0].left, [w for w in words if w not in asked], values)


def _words(test: ast.Compare) -> list[str]:
    """The words, as expressions, of which a comparison asks for one; none where it asks for something else."""
    said = test.comparators[0]
    several = isinstance(test.ops[0], ast.In) and isinstance(said, ast.List | ast.Tuple | ast.Set)
    parts = said.elts if several else [said] if isinstance(test.ops[0], ast.Eq) else []  # type: ignore[attr-defined]
    return [ast.unparse(p) for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)]


def _choices(node: ast.AST) -> list[ast.Compare]:
    """The comparison with a word that something is, or those that it joins by ``or``; none where it is none."""
    parts = node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) else [node]
    found = [n for n in parts if isinstance(n, ast.Compare) and isinstance(n.ops[0], ast.Eq) and _words(n)]
    return found if len(found) == len(parts) and len({ast.dump(c.left) for c in found}) == 1 else []


def _uneven(error: Exception, last: ast.stmt, values: Mapping[str, Any]) -> Iterator[Demand]:
    """A shape with ``size // window`` in it, which failed, asks for a size that is so many windows."""
    if "invalid for input of size" not in str(error):
        return
    for node in ast.walk(last):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
            sides = value(node.left, values), value(node.right, values)
            if all(type(s) is int and s > 0 for s in sides) and sides[0] % sides[1]:
                yield from _solved(ast.BinOp(node.left, ast.Mod(), node.right), 0, values)


def _unset(error: Exception, tree: ast.Module) -> Iterator[Demand]:
    """An attribute that is set in branches only asks for one of these to be taken."""
    match = re.match(r"'(\w+)' object has no attribute '(\w+)'", str(error))
    if not isinstance(error, AttributeError) or match is None:
        return
    own = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == match[1]), None)
    for node in ast.walk(own) if own else ():
        if not isinstance(node, ast.If):
            continue
        for branch, truth in ((node.body, True), (node.orelse, False)):
            if any(_sets(s, match[2]) for s in branch):
                yield from _wishes(node.test, truth, {})


def _sets(node: ast.stmt, attribute: str) -> bool:
    """Whether a statement of a branch, no branch in it, gives ``self`` an attribute."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(ast.unparse(inner) == f"self.{attribute}" for t in targets
               for inner in (t.elts if isinstance(t, ast.Tuple) else [t]))  # fmt: skip


def _binds(node: ast.If, name: str) -> bool:
    """Whether a branch gives a variable a value."""
    stores = (n for s in node.body for n in ast.walk(s) if isinstance(n, ast.Name))
    return any(n.id == name and isinstance(n.ctx, ast.Store) for n in stores)


def _looked_up(error: Exception, statement: ast.stmt, values: Mapping[str, Any]) -> Iterator[Demand]:
    """A key that is not there, or a word whose place in a list is asked for: those that are would do."""
    placed = str(error).endswith((" not in list", " not in tuple"))
    for node in ast.walk(statement) if placed or isinstance(error, KeyError) else ():
        if placed and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            known = value(node.func.value, values)
            if node.func.attr == "index" and isinstance(known, list | tuple):
                yield _demand(node.args[0], spelled(known), values)
        elif isinstance(node, ast.Subscript) and not placed:
            table, key = value(node.value, values), value(node.slice, values)
            if isinstance(table, dict) and table and (of_number := _turned_to_text(node.slice)):
                numbers = [int(k) for k in table if isinstance(k, str) and k.isdecimal()]
                yield Demand(named(of_number), value(of_number, values), tuple(spelled(numbers)))
            elif isinstance(table, dict) and table and key not in table:
                yield Demand(named(node.slice), key, tuple(spelled(table)))


def _turned_to_text(key: ast.expr) -> ast.expr | None:
    """What a key is made of as a text: ``tables[str(size)]``."""
    called = isinstance(key, ast.Call) and isinstance(key.func, ast.Name) and key.func.id == "str"
    return key.args[0] if isinstance(key, ast.Call) and called and len(key.args) == 1 else None


def _wishes(test: ast.expr, truth: bool, values: Mapping[str, Any]) -> Iterator[Demand]:
    """What would make a test come out so."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _wishes(test.operand, not truth, values)
    elif isinstance(test, ast.BoolOp):
        for part in test.values:
            yield from _wishes(part, truth, values)
    elif isinstance(test, ast.Compare):
        for left, op, right in zip([test.left, *test.comparators], test.ops, test.comparators, strict=False):
            kind = type(op) if truth else _TURNED[type(op)]
            yield from _compared(kind, left, right, values)
    elif isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and len(test.args) == 2:
        if test.func.id == "isinstance" and truth:
            yield _demand(test.args[0], instances(test.args[1], values), values)
        elif test.func.id == "hasattr" and truth:
            yield _demand(test.args[0], [CONFIG, "nn.Identity()"], values)
    elif isinstance(test, ast.Name | ast.Attribute):
        yield _demand(test, ["True", "2"] if truth else ["False", "None"], values)


def _compared(kind: type, left: ast.expr, right: ast.expr, values: Mapping[str, Any]) -> Iterator[Demand]:
    """What would make a comparison hold: either side may be the one that is to change."""
    for operand, other in ((left, right), (right, left)):
        if isinstance(operand, ast.Constant) or (bound := value(other, values)) is MISSING:
            continue
        if kind is ast.In:
            yield from _held(operand, bound, values) if operand is left else _holding(operand, bound)
        elif kind is not ast.NotIn:
            yield from _near(kind, operand, bound, values)


def _held(operand: ast.expr, bound: Any, values: Mapping[str, Any]) -> Iterator[Demand]:
    """What would be among what a container holds."""
    if isinstance(bound, dict | list | tuple | set | frozenset):
        yield _demand(operand, spelled(bound), values)


def _holding(operand: ast.expr, bound: Any) -> Iterator[Demand]:
    """What would hold a word: a value by that name."""
    if isinstance(bound, str) and (owner := named(operand)):
        yield Demand(f"{owner}.{bound}", MISSING, tuple(guessed(bound, "", Uses())[:MAX_VALUES]))


def _near(kind: type, operand: ast.expr, bound: Any, values: Mapping[str, Any]) -> Iterator[Demand]:
    """What would equal a value, or be less, or more, or another."""
    to_equal = type(bound) is int and kind is ast.Eq
    if to_equal and isinstance(operand, ast.BinOp):
        yield from _solved(operand, bound, values)
    elif to_equal and _is_rank(operand):
        yield _demand(operand, of_rank(named(operand), bound), values)
    elif is_length(operand) and isinstance(bound, int):
        assert isinstance(operand, ast.Call)
        yield _demand(operand.args[0], of_length(value(operand.args[0], values), bound), values)
    elif kind in (ast.Eq, ast.Is):
        yield _demand(operand, spelled([bound]), values)
    elif type(bound) in (int, float):
        yield _demand(operand, [str(bound), str(bound + 1), str(bound - 1), str(2 * bound)], values)
    elif type(bound) is bool:
        yield _demand(operand, [str(not bound)], values)


def _solved(node: ast.BinOp, result: int, values: Mapping[str, Any]) -> Iterator[Demand]:
    """What would make ``x + 1``, ``x - 1`` or ``x % n`` a number."""
    right = value(node.right, values)
    if type(right) is not int:
        return
    if isinstance(node.op, ast.Add | ast.Sub):
        wanted = result - right if isinstance(node.op, ast.Add) else result + right
        yield from _compared(ast.Eq, node.left, ast.Constant(wanted), values)
    elif isinstance(node.op, ast.Mod) and type(left := value(node.left, values)) is int and right > 0:
        # Nothing at all leaves no rest either: ``(depth - 4) % 6 == 0``, and a network of no blocks.
        below = max(left // right, 1) * right + result
        for whole in (below, below + right) if isinstance(node.left, ast.BinOp) else ():
            yield from _compared(ast.Eq, node.left, ast.Constant(whole), values)
        yield _demand(node.left, [str(below), str(below + right)], values)
        divisors = (n for n in range(min(right, left), 0, -1) if left % n == result)
        yield _demand(node.right, [str(n) for n in itertools.islice(divisors, 2)], values)


def _is_rank(node: ast.expr) -> bool:
    """Whether an expression says how many dimensions a tensor has."""
    function = node.func if isinstance(node, ast.Call) and not node.args else node
    return isinstance(function, ast.Attribute) and function.attr in ("dim", "ndim", "ndimension")


def _demand(node: ast.expr, wanted: list[str] | tuple[str, ...], values: Mapping[str, Any]) -> Demand:
    return Demand(named(node), value(node, values), tuple(wanted[:MAX_VALUES]))
