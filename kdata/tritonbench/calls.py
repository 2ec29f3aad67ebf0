"""The calls of a problem's own test, each with the statements that make its arguments. Reads; runs nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

DIVISION = re.compile(r"^#{100,}$", re.MULTILINE)  # between the reference and its test; 146 of them
DEVICE_CALLS = ("cuda", "cpu", "requires_grad_")  # methods that give the tensor itself, where all is on one device
IGNORED = ("device", "requires_grad")  # keywords of what makes tensors
Function = ast.FunctionDef


class NoCallError(ValueError):
    """The file holds no call that can be cut out; the message says why in one line."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call."""

    name: str  # the parameter's
    value: ast.expr
    keyword: bool  # whether the call names it


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the reference in its test."""

    arguments: tuple[Argument, ...]
    before: tuple[ast.stmt, ...]  # all statements of the test that come first

    def setup(self, arguments: Sequence[Argument]) -> list[ast.stmt]:
        """Those of them that these arguments need."""
        return needed(self.before, {name for a in arguments for name in _loaded(a.value)})


@dataclass(frozen=True, slots=True)
class Reading:
    """A problem's file, read."""

    reference: str  # the text of its first part
    function: Function  # what the test calls
    beside: tuple[ast.stmt, ...]  # the test's own imports and classes
    calls: tuple[Call, ...]


def read(text: str, name: str) -> Reading:
    """Read the file of the problem ``name``.

    Raises:
        NoCallError: it is not of this form, or none of its calls can be cut out.
    """
    reference, *rest = DIVISION.split(text, maxsplit=1)
    if not rest:
        raise NoCallError("no line divides the reference from its test")
    try:
        first, test = ast.parse(reference), ast.parse(rest[0])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NoCallError(f"not Python: {type(error).__name__}") from error
    function = _entry(first, name)
    if function.args.vararg or function.args.kwarg:
        raise NoCallError("the reference takes any number of arguments")
    defining = (s for s in test.body if isinstance(s, ast.Import | ast.ImportFrom | ast.ClassDef))
    beside = tuple(s for s in defining if not _of(s, name))
    found = tuple(call for f in test.body if isinstance(f, Function) for call in _calls(f, function))
    if not found:
        raise NoCallError("its test does not call the reference in a plain statement")
    return Reading(reference.strip(), function, beside, found)


def needed(before: Sequence[ast.stmt], names: set[str]) -> list[ast.stmt]:
    """The statements that give these names the values that they have in the end, in order."""
    kept: list[ast.stmt] = []
    for statement in reversed(before):
        bound, touched = _bound(statement), _touched(statement)
        if not (bound | touched) & names:
            continue
        kept.append(statement)
        names = (names - bound) | _loaded(statement)
    return kept[::-1]


def _entry(tree: ast.Module, name: str) -> Function:
    """The function that has the file's name, else the last one."""
    functions = [s for s in tree.body if isinstance(s, Function)]
    if not functions:
        raise NoCallError("it defines no function")
    return next((f for f in functions if f.name == name), functions[-1])


def _of(statement: ast.stmt, name: str) -> bool:
    """Whether an import is of the problem's own file."""
    return isinstance(statement, ast.ImportFrom) and statement.module == name


def _calls(test: Function, function: Function) -> Iterator[Call]:
    done: list[ast.stmt] = []
    for statement in test.body:
        plain = OnOneDevice().visit(statement)
        if isinstance(plain, ast.Assign | ast.Expr):
            for node in ast.walk(plain):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function.name:
                    yield from _call(node, function, tuple(done))
        done.append(plain)


def _call(node: ast.Call, function: Function, before: tuple[ast.stmt, ...]) -> Iterator[Call]:
    """The call, if every argument of it has a name."""
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        return
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    given = [Argument(name, value, False) for name, value in zip(names, node.args, strict=False)]
    given += [Argument(k.arg or "", k.value, True) for k in node.keywords]
    call = Call(tuple(given), before)
    if function.name not in {n for s in call.setup(given) for n in _loaded(s)}:
        yield call


class OnOneDevice(ast.NodeTransformer):
    """A test for machines without a GPU: nothing says where a tensor is."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Drop what moves a tensor, and the keywords that place it."""
        self.generic_visit(node)
        node.keywords = [k for k in node.keywords if k.arg not in IGNORED]
        match node:
            case ast.Call(func=ast.Attribute(value=moved, attr=attr)) if attr in DEVICE_CALLS:
                return moved
            case ast.Call(func=ast.Attribute(value=moved, attr="to"), args=[ast.Constant(value=str())], keywords=[]):
                return moved
        return node


def _loaded(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement gives new values."""
    if isinstance(statement, ast.ClassDef | Function):
        return {statement.name}
    if not isinstance(statement, ast.Assign):
        return set()
    return {n.id for t in statement.targets for n in ast.walk(t)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}  # fmt: skip


def _touched(statement: ast.stmt) -> set[str]:
    """The names whose values it may change in place."""
    match statement:
        case ast.AugAssign(target=target):
            return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
        case ast.Assign(targets=targets):
            items = [n for t in targets for n in ast.walk(t) if isinstance(n, ast.Subscript | ast.Attribute)]
            return {n.id for item in items for n in ast.walk(item) if isinstance(n, ast.Name)}
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner)))):
            return {owner}
    return set()
