"""What a constructor's own checks ask for: the tests around the statement that failed, read as wishes.

``raise`` in the last branch of a chain asks for one of its constants, ``assert`` for its test to hold, a look-up for
one of the keys that there are.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import linecache
import operator
import re
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from sources.hints.configs_tiny import by_halves
from sources.hints.guesses import Uses
from sources.hints.guesses import values as guessed
from sources.infer.constructor.configs import CONFIG

MAX_VALUES = 6  # of one wish
MAX_KINDS = 3  # classes that are made of one that is asked for
MAX_FRAMES = 3  # of the program, innermost first
_BUILT_IN = {"int": "2", "float": "0.5", "bool": "True", "str": "'relu'", "list": "[32, 64]", "tuple": "(8, 8)",
             "dict": "{}"}  # fmt: skip
_TURNED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
           ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip
_COMPUTED = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
_MISSING = object()


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
        tree = _tree("".join(linecache.getlines(file)))
    except SyntaxError:
        return []
    found = [*_unset(error, tree)]
    for path, values in _failing(error, tree, file):
        found += _uneven(error, path[-1], values)
        found += _asked(error, path, values) if isinstance(path[-1], ast.Assert | ast.Raise) else ()
    return [d for d in dict.fromkeys(_hashable(found)) if d.wanted]


@functools.lru_cache(maxsize=4)
def _tree(text: str) -> ast.Module:
    return ast.parse(text)


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
            yield Demand(demand.name, _MISSING, demand.wanted)


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
            sides = _value(node.left, values), _value(node.right, values)
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
            known = _value(node.func.value, values)
            if node.func.attr == "index" and isinstance(known, list | tuple):
                yield _demand(node.args[0], _spelled(known), values)
        elif isinstance(node, ast.Subscript) and not placed:
            table, key = _value(node.value, values), _value(node.slice, values)
            if isinstance(table, dict) and table and (of_number := _turned_to_text(node.slice)):
                numbers = [int(k) for k in table if isinstance(k, str) and k.isdecimal()]
                yield Demand(_named(of_number), _value(of_number, values), tuple(_spelled(numbers)))
            elif isinstance(table, dict) and table and key not in table:
                yield Demand(_named(node.slice), key, tuple(_spelled(table)))


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
            yield _demand(test.args[0], _instances(test.args[1], values), values)
        elif test.func.id == "hasattr" and truth:
            yield _demand(test.args[0], [CONFIG, "nn.Identity()"], values)
    elif isinstance(test, ast.Name | ast.Attribute):
        yield _demand(test, ["True", "2"] if truth else ["False", "None"], values)


def _compared(kind: type, left: ast.expr, right: ast.expr, values: Mapping[str, Any]) -> Iterator[Demand]:
    """What would make a comparison hold: either side may be the one that is to change."""
    for operand, other in ((left, right), (right, left)):
        if isinstance(operand, ast.Constant) or (bound := _value(other, values)) is _MISSING:
            continue
        if kind in (ast.In, ast.NotIn):
            if operand is left and kind is ast.In and isinstance(bound, dict | list | tuple | set | frozenset):
                yield _demand(operand, _spelled(bound), values)
            elif operand is right and kind is ast.In and isinstance(bound, str) and (owner := _named(operand)):
                yield Demand(f"{owner}.{bound}", _MISSING, tuple(guessed(bound, "", Uses())[:MAX_VALUES]))
        elif isinstance(operand, ast.BinOp) and type(bound) is int and kind is ast.Eq:
            yield from _solved(operand, bound, values)
        elif _is_rank(operand) and type(bound) is int and kind is ast.Eq:
            yield _demand(operand, _of_rank(_named(operand), bound), values)
        elif _is_length(operand) and isinstance(bound, int):
            assert isinstance(operand, ast.Call)
            yield _demand(operand.args[0], _of_length(_value(operand.args[0], values), bound), values)
        elif kind in (ast.Eq, ast.Is):
            yield _demand(operand, _spelled([bound]), values)
        elif type(bound) in (int, float):
            yield _demand(operand, [str(bound), str(bound + 1), str(bound - 1), str(2 * bound)], values)
        elif type(bound) is bool:
            yield _demand(operand, [str(not bound)], values)


def _solved(node: ast.BinOp, result: int, values: Mapping[str, Any]) -> Iterator[Demand]:
    """What would make ``x + 1``, ``x - 1`` or ``x % n`` a number."""
    right = _value(node.right, values)
    if type(right) is not int:
        return
    if isinstance(node.op, ast.Add | ast.Sub):
        wanted = result - right if isinstance(node.op, ast.Add) else result + right
        yield from _compared(ast.Eq, node.left, ast.Constant(wanted), values)
    elif isinstance(node.op, ast.Mod) and type(left := _value(node.left, values)) is int and right > 0:
        # Nothing at all leaves no rest either: ``(depth - 4) % 6 == 0``, and a network of no blocks.
        below = max(left // right, 1) * right + result
        for whole in (below, below + right) if isinstance(node.left, ast.BinOp) else ():
            yield from _compared(ast.Eq, node.left, ast.Constant(whole), values)
        yield _demand(node.left, [str(below), str(below + right)], values)
        divisors = (n for n in range(min(right, left), 0, -1) if left % n == result)
        yield _demand(node.right, [str(n) for n in itertools.islice(divisors, 2)], values)


def _is_length(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and bool(node.args)


def _is_rank(node: ast.expr) -> bool:
    """Whether an expression says how many dimensions a tensor has."""
    function = node.func if isinstance(node, ast.Call) and not node.args else node
    return isinstance(function, ast.Attribute) and function.attr in ("dim", "ndim", "ndimension")


def _of_rank(name: str, rank: int) -> list[str]:
    """Arrays of so many dimensions; a mask of one is of zeros and ones in turn."""
    sizes = ", ".join(["64"] * rank)
    return [*(["[0, 1] * 32"] if rank == 1 and "mask" in name else []), f"torch.rand({sizes})"] if rank else ["0.5"]


def _of_length(value: Any, length: int) -> list[str]:
    """The sequence cut or repeated to a length."""
    if not isinstance(value, list | tuple) or not value or not 0 < length < 32:
        return []
    longer = [value[min(i, len(value) - 1)] for i in range(length)]
    return _spelled([type(value)(longer)]) if type(value) in (list, tuple) else []


def _instances(node: ast.expr, values: Mapping[str, Any]) -> list[str]:
    """Instances of a class, or of one of several."""
    found = []
    for kind in node.elts if isinstance(node, ast.Tuple) else [node]:
        meant, name = _value(kind, values), ast.unparse(kind)
        if name in _BUILT_IN:
            found.append(_BUILT_IN[name])
        elif isinstance(meant, type) and issubclass(nn.Identity, meant):
            found.append("nn.Identity()")
        elif isinstance(meant, type) and name.isidentifier():
            # a base of configurations holds too little: one of those that are made of it is meant
            further = ((n, v) for n, v in values.items() if isinstance(v, type) and v is not meant and n.isidentifier())
            for other, kind_of in itertools.islice((f for f in further if issubclass(f[1], meant)), MAX_KINDS):
                found += _made(kind_of, other)[:1]
            found += _made(meant, name)
    return found


def _made(kind: type, name: str) -> list[str]:
    """Calls of a class: with its defaults made small where it has large ones, and guesses for what has none."""
    try:
        every = list(inspect.signature(kind).parameters.values())
    except (TypeError, ValueError):
        return [f"{name}()"]
    plain = [p for p in every if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    required = {p.name: guessed(p.name, "", Uses())[0] for p in plain if p.default is p.empty}
    smaller = {p.name: repr(by_halves(p.name, p.default)) for p in plain if p.default is not p.empty
               and by_halves(p.name, p.default) != p.default}  # fmt: skip
    texts = [", ".join(f"{n}={v}" for n, v in given.items()) for given in (required | smaller, required)]
    return [f"{name}({text})" for text in dict.fromkeys(texts) if CONFIG not in text]


def _demand(node: ast.expr, wanted: list[str] | tuple[str, ...], values: Mapping[str, Any]) -> Demand:
    return Demand(_named(node), _value(node, values), tuple(wanted[:MAX_VALUES]))


def _named(node: ast.expr) -> str:
    """What something is called: the last part of a dotted name, the key of an item, what a method is called on."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    if isinstance(node, ast.Call):
        inner = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0] if node.args else node
        return _named(inner) if inner is not node else ""
    return node.id if isinstance(node, ast.Name) else ""


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """What a simple expression was when the program failed: nothing of the program is called for it."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return values.get(node.id, _MISSING)
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, values)
        return _MISSING if owner is _MISSING else getattr(owner, "__dict__", {}).get(node.attr, _MISSING)
    if isinstance(node, ast.Subscript):
        owner, key = _value(node.value, values), _value(node.slice, values)
        inside = isinstance(owner, list | tuple) and type(key) is int and -len(owner) <= key < len(owner)
        return owner[key] if inside else _MISSING
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        items = [_value(e, values) for e in node.elts]
        return _MISSING if any(i is _MISSING for i in items) else items
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "keys":
        return _value(node.func.value, values)
    if _is_length(node) and isinstance(node, ast.Call):
        inner = _value(node.args[0], values)
        return len(inner) if isinstance(inner, list | tuple | dict | str) else _MISSING
    if isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        sides = _value(node.left, values), _value(node.right, values)
        if all(type(s) in (int, float) for s in sides):
            return _COMPUTED[type(node.op)](*sides)
    return _MISSING


def _spelled(choices: Any) -> list[str]:
    """Plain values as expressions."""
    plain = (bool, int, float, str, type(None))
    found = []
    for choice in sorted(choices, key=str) if isinstance(choices, set | frozenset) else choices:
        if type(choice) in plain or type(choice) in (list, tuple) and all(type(c) in plain for c in choice):
            found.append(repr(choice))
    return found[:MAX_VALUES]
