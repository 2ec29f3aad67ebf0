"""Which way the tests of a candidate's wrapper go: what no call has taken was not judged. In children and beside them.

Every ``if`` of a function that is no kernel has two arms, and so has every conditional expression, every loop's and
comprehension's condition, every comparison, and several of them together, wherever their answer goes: beside ``and``,
into a table of kernels. The text is compiled with a call around each, by a name that no text can say; lines and names
stay as they are.
"""

from __future__ import annotations

import ast
import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kdata.verify.candidate.subset import jitted
from kdata.verify.constants import whole as constant

NAME, COMPARED = "goes which way", "compares to what"
THEN = 2  # the trial that is called after the first: of its sizes, with other values
RETYPED = "after half precision"  # how a report calls a call whose module was given that before
SMALL = 8  # numbers up to this one are ranks and sizes that may be something of their own as often as not
LEAST = 1  # and up to this one such as stand for there being anything at all
SIZES = frozenset({"shape", "size", "numel", "nelement", "stride", "strides", "nbytes", "element_size", "itemsize"})
RANKS = frozenset({"dim", "ndim", "len", "ndimension"})
DIGITS = frozenset({"str", "bin", "hex", "oct", "repr", "format"})  # whose length is that of a number
ENDS = frozenset({"startswith", "endswith"})  # what a text, and a number's digits, are asked
ADDING = frozenset({"add", "append", "extend", "insert", "setdefault", "update"})
OWNERS = frozenset({"self", "type(self)", "self.__class__", "cls"})  # of what outlives a call
EQUAL = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)
Arm = tuple[int, bool]  # a test's number, in the order of the text, and what it came to

taken: set[Arm] = set()
_forced: dict[int, bool] = {}


@dataclass(frozen=True, slots=True)
class Test:
    """One test of a wrapper."""

    number: int
    line: int
    text: str
    words: frozenset[str]  # names and attributes on which it depends, through what the text binds them to
    refuses: frozenset[bool]  # arms that only raise
    whole: bool = True  # whether it decides by itself what is done, and is no part of such a test
    sized: bool = False  # whether it asks how large something is, so that what is done for it may be done for all
    small: tuple[int, ...] = ()  # numbers that it names, as far as they are ranks or few elements
    counts: bool = False  # whether it asks how much earlier calls have kept
    empty: bool = False  # whether it asks if there is anything to do: a name, or one beside zero or one


def went(number: int, value: Any) -> bool:
    """Note the arm that a test chooses, and choose it; or the one that is forced."""
    arm = _forced.get(number, bool(value))
    taken.add((number, arm))
    return arm


def compared(number: int, value: Any) -> Any:
    """As ``went``, of a comparison, whose answer may be a tensor and no arm."""
    return went(number, value) if isinstance(value, bool) else value


NAMES = {NAME: went, COMPARED: compared}


@contextlib.contextmanager
def forced(number: int, arm: bool) -> Iterator[None]:
    """Where one test goes this way, whatever it finds."""
    _forced[number] = arm
    try:
        yield
    finally:
        _forced.clear()


@contextlib.contextmanager
def anew() -> Iterator[set[Arm]]:
    """The arms that are taken from here on, whether they were taken before or not."""
    before = set(taken)
    taken.clear()
    try:
        yield taken
    finally:
        taken.update(before)


def marked(tree: ast.Module) -> ast.Module:
    """The text with its tests noted."""
    calls: dict[int, ast.Call] = {}
    for number, (node, whole) in enumerate(_nodes(tree)):
        name = ast.Name(NAME if whole else COMPARED, ast.Load())
        calls[id(node)] = ast.copy_location(ast.Call(name, [ast.Constant(number), node], []), node)
    _Marking(calls).visit(tree)
    return ast.fix_missing_locations(tree)


class _Marking(ast.NodeTransformer):
    """Puts calls around expressions."""

    def __init__(self, calls: dict[int, ast.Call]) -> None:
        self._calls = calls

    def visit(self, node: ast.AST) -> ast.AST:
        """A node, or the call that is to be around it."""
        visited = self.generic_visit(node)
        return self._calls.get(id(node), visited)


def tests(text: str) -> list[Test]:
    """The tests of a text's wrappers."""
    tree = ast.parse(text)
    names, growing = _Names(tree), _growing(tree)
    refusals = _refusals(tree)
    found = []
    for number, (node, whole) in enumerate(_nodes(tree)):
        words = names.words(node)
        refused = refusals.get(id(node), frozenset())
        sized, small = _tells_sizes(node, words), tuple(v for v in numbers_of(node) if v <= SMALL)
        counts = not growing.isdisjoint(_measured(node))
        found.append(Test(number, node.lineno, ast.unparse(node)[:80], words, refused, whole, sized, small, counts,
                          _asks_for_any(node)))  # fmt: skip
    return found


def _asks_for_any(node: ast.expr) -> bool:
    parts = [node.left, *node.comparators] if isinstance(node, ast.Compare) else [node]
    return sum(isinstance(p, ast.Name) for p in parts) == 1 and all(
        isinstance(p, ast.Name) or constant(p) in (0, 1) for p in parts
    )


def _growing(tree: ast.Module) -> frozenset[str]:
    """What keeps more from call to call: ``self.seen.add(x)``, ``self.kept[x] = y``, a module's ``kept.append(x)``."""
    shared = {t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
    found: list[ast.expr] = []
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name != "__init__"):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ADDING:
                found.append(node.func.value)
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                found.append(node.value)
    owned = [n.attr for n in found if isinstance(n, ast.Attribute) and ast.unparse(n.value) in OWNERS]
    return frozenset([*owned, *(n.id for n in found if isinstance(n, ast.Name) and n.id in shared)])


def _measured(node: ast.AST) -> Iterator[str]:
    """The names of whose length a comparison asks."""
    for part in ast.walk(node) if isinstance(node, ast.Compare) else ():
        if isinstance(part, ast.Call) and ast.unparse(part.func) == "len" and len(part.args) == 1:
            yield ast.unparse(part.args[0]).rpartition(".")[2]


def _nodes(tree: ast.Module) -> list[tuple[ast.expr, bool]]:
    """Tests within functions that are no kernels, in the order of the text, and whether each is a whole one."""
    kernels = {id(node) for kernel in jitted(tree) for node in ast.walk(kernel)}
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.Lambda) and id(n) not in kernels)
    inside = {id(n): n for f in functions for n in ast.walk(f) if id(n) not in kernels}
    found: dict[int, tuple[ast.expr, bool]] = {}
    for node in inside.values():
        found |= {id(test): (test, True) for test in _tests_of(node)}
    for node in inside.values():
        part = isinstance(node, ast.Compare | ast.BoolOp) or _asks_text(node)
        if part and isinstance(node, ast.expr) and id(node) not in found:
            found[id(node)] = node, False
    return sorted(found.values(), key=lambda pair: (pair[0].lineno, pair[0].col_offset, not pair[1]))


def _asks_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ENDS


def _tests_of(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        return [node.test]
    return node.ifs if isinstance(node, ast.comprehension) else []


def _refusals(tree: ast.Module) -> dict[int, frozenset[bool]]:
    """Of tests and their parts the arms that only raise; of parts both where one of the whole's does."""
    both = frozenset({True, False})
    found: dict[int, frozenset[bool]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            found |= {id(part): both for part in ast.walk(node.test)}
        elif isinstance(node, ast.If):
            arms = ((True, node.body), (False, node.orelse))
            refused = frozenset(arm for arm, body in arms if body and isinstance(body[-1], ast.Raise))
            found |= {id(part): both if refused else refused for part in ast.walk(node.test)}
            found[id(node.test)] = refused
    return found


def _tells_sizes(node: ast.expr, words: frozenset[str]) -> bool:
    """Whether a comparison tells large from small, or one size from all others; several, if each of them does.

    Several by which sizes are multiples are none: who asks for all of them may rely on it.
    """
    if isinstance(node, ast.BoolOp):
        return all(isinstance(part, ast.Compare) and _tells_sizes(part, words) and not _multiple(part)
                   for part in node.values)  # fmt: skip
    if _asks_text(node):
        return bool(words & SIZES and words & DIGITS)
    if not isinstance(node, ast.Compare) or not words & SIZES or (words & RANKS and not words & DIGITS):
        return False
    if words & DIGITS and any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in ast.walk(node)):
        return True  # digits are compared with such
    numbers = list(_amounts(node))
    if any(isinstance(op, EQUAL) for op in node.ops):
        return any(v > SMALL for v in numbers)
    return all(v > LEAST for v in numbers)


def _amounts(node: ast.AST) -> Iterator[int]:
    """The numbers of an expression, rounded up, but for those that say which dimension is meant.

    And for such as keep a size from being none: ``max(n, 1)``.
    """
    value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    if (number := constant(node)) is not None:
        yield abs(number)
    elif isinstance(value, float) and 1 < value < math.inf:
        yield math.ceil(value)  # ``math.log2(n) > 26.5``
    which = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SIZES
    least = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "max"
    for name, part in ast.iter_fields(node):
        if not (which and name == "args") and not (isinstance(node, ast.Subscript) and name == "slice"):
            for child in part if isinstance(part, list) else [part]:
                if isinstance(child, ast.AST) and not (least and constant(child) in (0, 1)):
                    yield from _amounts(child)


def _multiple(node: ast.Compare) -> bool:
    """Whether a remainder is compared with nothing."""
    parts = [node.left, *node.comparators]
    return any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in parts) and any(
        constant(part) == 0 for part in parts
    )


def numbers_of(node: ast.AST) -> list[int]:
    """The whole numbers of an expression, without their signs."""
    return [abs(v) for part in ast.walk(node) if (v := constant(part)) is not None]


class _Names:
    """What a text's names stand for: those of the function they stand in, else functions and attributes."""

    def __init__(self, tree: ast.Module) -> None:
        self._common: dict[str, list[ast.AST]] = {}
        self._own: dict[int, dict[str, list[ast.AST]]] = {}
        self._scope: dict[int, int] = {}  # of each node, the innermost function around it
        for function in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:  # outer ones come first
            self._scope |= {id(node): id(function) for node in ast.walk(function)}
            self._common.setdefault(function.name, []).extend(_telling(function))
        for node in ast.walk(tree):
            for name, attribute, value in _bindings(node):
                own = self._own.setdefault(self._scope.get(id(node), 0), {})
                (self._common if attribute else own).setdefault(name, []).append(value)

    def words(self, node: ast.expr) -> frozenset[str]:
        """The names and attributes on which a test depends."""
        words: set[str] = set()
        seen: set[tuple[str, int]] = set()
        left: list[ast.AST] = [node]
        while left:
            words |= {"format"} if any(isinstance(n, ast.JoinedStr) for n in ast.walk(left[-1])) else set()
            for part in _named(left.pop()):
                word, scope = _name(part), self._scope.get(id(part), 0)
                words.add(word)
                if (word, scope) not in seen:
                    seen.add((word, scope))
                    left += self._own.get(scope, {}).get(word) or self._common.get(word, [])
        return frozenset(words)


def _telling(function: ast.FunctionDef) -> list[ast.AST]:
    """What a function's answer follows from: what it returns, and the tests that do not only refuse."""
    nodes = list(ast.walk(function))
    chosen: list[ast.AST] = [n.test for n in nodes if isinstance(n, ast.If) and not _raises(n)]
    return chosen + [n.value for n in nodes if isinstance(n, ast.Return) and n.value is not None]


def _raises(node: ast.If) -> bool:
    return any(body and isinstance(body[-1], ast.Raise) for body in (node.body, node.orelse))


def _bindings(node: ast.AST) -> Iterator[tuple[str, bool, ast.AST]]:
    """Names that are bound here, whether they are attributes, and what to."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for part in ast.walk(target):
                if isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Store):
                    yield _name(part), isinstance(part, ast.Attribute), node.value


def _named(node: ast.AST) -> Iterator[ast.Name | ast.Attribute]:
    """The names and attributes in an expression, but for where and of what dtype memory is asked for."""
    if isinstance(node, ast.keyword) and node.arg in ("device", "dtype"):
        return
    if isinstance(node, ast.Name | ast.Attribute):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _named(child)


def _name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr
