"""The KernelBench interface: a Python text with a module class, ``get_inputs()`` and ``get_init_inputs()``.

Source: https://github.com/ScalingIntelligence/KernelBench.  ``get_init_inputs()`` may answer KernelBench's list of
positional arguments, KernelBook's ``[[positional], {keyword}]``, or a dictionary of keyword arguments.

A task's *sizes* are the integers that decide its shapes: the literals in the two functions and in the module-level
constants these use.  Changing them together is how a task is scaled down to run on a CPU, and how kernels with
baked-in sizes are found out; keeping them as symbols is how kernels that fit every size are made.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from types import CodeType
from typing import Any

from kdata.devices import on_host

INPUTS, INIT_INPUTS = "get_inputs", "get_init_inputs"
TIED = 6  # equal integers from this one on are taken to be equal on purpose
LAYERS = ("nn.", "torch.nn.")  # where classes of layers come from, whatever their names
ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift, ast.Pow: operator.pow,
}  # fmt: skip


class TaskError(ValueError):
    """A text that is no task; the message says why in one line."""


@dataclass(frozen=True, slots=True)
class Size:
    """An integer that may decide a shape."""

    name: str  # "batch_size", "input_shape[0]", "get_inputs[2]": unique in the task
    value: int
    line: int
    column: int


@dataclass(slots=True)
class Program:
    """A task that has been executed: its namespace and what to build from it."""

    namespace: dict[str, Any]
    entry_point: str

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments of the constructor."""
        given = self.namespace[INIT_INPUTS]() if INIT_INPUTS in self.namespace else []
        if isinstance(given, dict):
            return [], given
        if len(given) == 2 and isinstance(given[0], list) and isinstance(given[1], dict):
            return given[0], given[1]
        return list(given), {}

    def build(self, name: str | None = None) -> Any:
        """Construct the module (or another class of the namespace with the same arguments)."""
        positional, keyword = self.arguments()
        return self.namespace[name or self.entry_point](*positional, **keyword)

    def inputs(self) -> list[Any]:
        """Draw the inputs of ``forward``."""
        return list(self.namespace[INPUTS]())


def parse(source: str) -> ast.Module:
    """Parse a task.

    Raises:
        TaskError: it is not Python, or lacks ``get_inputs``.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TaskError(f"the task is not Python: {unparsable(error)}") from error
    if not any(isinstance(s, ast.FunctionDef) and s.name == INPUTS for s in tree.body):
        raise TaskError(f"the task defines no {INPUTS}()")
    return tree


def unparsable(error: Exception) -> str:
    """Why a text is not Python, and in which line where that is known; nothing of the text itself."""
    line = getattr(error, "lineno", None)  # None of a text with null bytes, too
    return type(error).__name__ + (f" (line {line})" if line else "")


def find_entry_point(source: str) -> str:
    """The class to build: ``Model`` where there is one, else the last nn.Module class that nothing else names.

    A ``Model`` that another class is derived from is a part, as others are.

    Raises:
        TaskError: the text defines no class, or is no task.
    """
    tree = parse(source)
    classes = [s for s in tree.body if isinstance(s, ast.ClassDef)]
    if not classes:
        raise TaskError("the task defines no class")
    bases = {ast.unparse(b) for c in classes if c.name != "ModelNew" for b in c.bases}
    if "Model" not in bases and any(c.name == "Model" for c in classes):
        return "Model"
    modules = _modules(classes)
    used = {name for s in tree.body for name in _names(s) if name != getattr(s, "name", "")}
    # a part may stand after the class that it is a part of: one of a table of layers, or what forward makes
    return ([m for m in modules if m not in used] or modules or [c.name for c in classes])[-1]


def _modules(classes: Sequence[ast.ClassDef]) -> list[str]:
    """The names of the nn.Module classes among those of a text, of which some are made of others."""
    found: list[str] = []
    for c in classes:
        bases = [ast.unparse(b) for b in c.bases]
        if any("Module" in b or b in found or b.startswith(LAYERS) for b in bases):
            found.append(c.name)
    return found


def sizes(source: str) -> tuple[Size, ...]:
    """The integers that may decide the task's shapes, in the order of the text."""
    return tuple(size for size, _, _ in _places(source))


def substitute(source: str, replace: Callable[[Size], ast.expr | None]) -> ast.Module:
    """The task's tree with each size replaced by what ``replace`` gives for it, None leaving it as it is."""
    tree = parse(source)
    changes = {id(node): new for size, node in _sizes(tree) if (new := replace(size)) is not None}

    class Substitution(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            new = changes.get(id(node))
            changed: ast.AST = super().visit(node) if new is None else ast.copy_location(new, node)
            return changed

    changed = Substitution().visit(tree)
    assert isinstance(changed, ast.Module)
    return ast.fix_missing_locations(changed)


def resize(source: str, values: Mapping[str, int]) -> str:
    """The task's text with other sizes."""
    return "".join(_pieces(source, values))


def _pieces(source: str, values: Mapping[str, int]) -> Iterator[str]:
    """The text with other sizes, cut so that most pieces are the same for all sizes."""
    data = source.encode()
    places = [p for p in sorted(_places(source), key=operator.itemgetter(1)) if p[0].name in values]
    for done, stop in pairwise((0, *_cuts(source), len(data))):
        parts = []
        for size, start, end in places:
            if done <= start < stop:
                parts += [data[done:start], str(values[size.name]).encode()]
                done = end
        yield b"".join([*parts, data[done:stop]]).decode()


@lru_cache(maxsize=32)
def _cuts(source: str) -> tuple[int, ...]:
    """Where the text is cut, in bytes: before and after statements at its top level that say sizes.

    Not inside a line, nor before a string, which a piece that began with it would take for the module's own.
    """
    tree, starts = parse(source), _line_starts(source)
    said = {size.line for size, _, _ in _places(source)}
    cuts = []
    for one, other in pairwise(tree.body):
        first = min([other.lineno, *(d.lineno for d in getattr(other, "decorator_list", ()))])
        alike = not any(said & {*range(s.lineno, (s.end_lineno or s.lineno) + 1)} for s in (one, other))
        if not alike and (one.end_lineno or 0) < first and not _is_text(other):
            cuts.append(starts[first - 1])
    return tuple(cuts) if not any(map(is_future, tree.body)) else ()


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def is_future(statement: ast.stmt) -> bool:
    """Whether it decides how all the text is compiled."""
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _line_starts(source: str) -> list[int]:
    return [0, *accumulate(len(line) for line in source.encode().splitlines(keepends=True))]


@lru_cache(maxsize=32)
def _places(source: str) -> tuple[tuple[Size, int, int], ...]:
    """Each size with the bytes of the text that say it."""
    lines = _line_starts(source)
    return tuple(
        (size, lines[node.lineno - 1] + node.col_offset, lines[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0))
        for size, node in _sizes(parse(source))
    )


def execute(
    source: str | ast.Module, entry_point: str, given: Mapping[str, Any] | None = None,
    values: Mapping[str, int] | None = None,
) -> Program:  # fmt: skip
    """Run a task's text, at other sizes if ``values`` says so. Hostile code runs here: call it in the sandbox only.

    Raises:
        TaskError: the entry point or ``get_inputs`` is missing afterwards.
    """
    namespace: dict[str, Any] = {"__name__": "task", **(given or {})}
    if isinstance(source, str) and values is not None:
        codes = _resized(source, values)
    else:
        text = on_host(source) if isinstance(source, str) else source
        codes = [compile(text, "<task>", "exec", dont_inherit=True)]
    for code in codes:
        exec(code, namespace)  # noqa: S102 - the purpose of this function
    if entry_point not in namespace:
        raise TaskError(f"the task defines no {entry_point}")
    return Program(namespace, entry_point)


def _resized(source: str, values: Mapping[str, int]) -> list[CodeType]:
    """The code of the text with other sizes: classes, which are most of it, are compiled once for all sizes."""
    before, codes = 0, []
    for piece in _pieces(source, values):
        codes.append(_compiled(piece, before))
        before += piece.count("\n")
    return codes


@lru_cache(maxsize=128)
def _compiled(piece: str, before: int) -> CodeType:
    """A piece of a text's code, so many lines from the text's beginning."""
    code: CodeType = compile(on_host("\n" * before + piece), "<task>", "exec", dont_inherit=True)
    return code


def _sizes(tree: ast.Module) -> Iterator[tuple[Size, ast.expr]]:
    taken: dict[str, int] = {}
    for label, node, value in _integers(tree):
        count = taken[label] = taken.get(label, -1) + 1
        name = label if count == 0 and not label.startswith("get_") else f"{label}[{count}]"
        yield Size(name, value, node.lineno, node.col_offset), node


def _integers(tree: ast.Module) -> Iterator[tuple[str, ast.expr, int]]:
    """Integers of the statements that decide the inputs, each with the name it goes by."""
    statements = _deciding(tree)
    alone = {value for s in statements if isinstance(s, ast.FunctionDef) for value in _standing_alone(s)}
    for statement in statements:
        outer, beside = (statement.name, alone) if isinstance(statement, ast.FunctionDef) else (_target(statement), ())
        labels = _labels(statement)
        structure = _structure(statement, beside)
        for node in ast.walk(statement):
            if isinstance(node, ast.expr) and id(node) not in structure:
                value = _whole(node)
                if value is not None and value >= 1:
                    yield labels.get(id(node), outer), node, value


def _labels(statement: ast.stmt) -> dict[int, str]:
    """What the values of a statement are called: by assignment, dictionary key or keyword."""
    labels: dict[int, str] = {}
    for node in ast.walk(statement):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Tuple)
            and isinstance(node.value, ast.Tuple)
        ):
            names = (ast.unparse(t) for t in node.targets[0].elts)
            labels |= {id(v): n for n, v in zip(names, node.value.elts, strict=False)}
        elif isinstance(node, ast.Dict):
            keyed = ((k, v) for k, v in zip(node.keys, node.values, strict=True) if isinstance(k, ast.Constant))
            labels |= {id(v): str(k.value) for k, v in keyed}
        elif isinstance(node, ast.keyword) and node.arg:
            labels[id(node.value)] = node.arg
    return labels


def _whole(node: ast.expr) -> int | None:
    """The value of an integer literal, or of arithmetic over literals: ``2048 * 2`` is one number."""
    match node:
        case ast.Constant(value=int() as value) if type(value) is int:
            return value
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            a, b = _whole(left), _whole(right)
            if a is None or b is None or max(abs(a), abs(b)) >= 2**40:
                return None
            if (isinstance(op, ast.LShift | ast.Pow) and not 0 <= b < 64) or (isinstance(op, ast.FloorDiv) and not b):
                return None
            return ARITHMETIC[type(op)](a, b)
    return None


def _structure(statement: ast.stmt, alone: Container[int]) -> set[int]:
    """Nodes that are no sizes of their own: parts of a number, and factors of a named one (``2 * hidden``).

    Or of one that stands ``alone`` elsewhere: ``4 * 1000`` beside ``1000`` is four times that, not 4000.
    """
    found: set[int] = set()
    for node in ast.walk(statement):
        operands = _operands(node)
        found |= {id(o) for o in operands if isinstance(o, ast.Constant | ast.BinOp)}
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sized = [o for o in operands if isinstance(o, ast.Constant) and o.value in alone]
            if len(sized) == 1:
                found = (found | {id(node)}) - {id(sized[0])}
    return found


def _standing_alone(statement: ast.stmt) -> Iterator[int]:
    """Integers, large enough not to be equal by chance, that are no part of another number."""
    parts = {id(o) for node in ast.walk(statement) for o in _operands(node)}
    for node in ast.walk(statement):
        number = _whole(node) if isinstance(node, ast.Constant) and id(node) not in parts else None
        if number is not None and number >= TIED:
            yield number


def _operands(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    return [node.operand] if isinstance(node, ast.UnaryOp) else []


def _deciding(tree: ast.Module) -> list[ast.stmt]:
    """The two functions, and the module-level assignments that they use, directly or not."""
    functions = [s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name in (INPUTS, INIT_INPUTS)]
    assignments = [s for s in tree.body if isinstance(s, ast.Assign | ast.AnnAssign) and s.value is not None]
    used = _names(*functions)
    while True:
        chosen = [s for s in assignments if any(t in used for t in _bound(s))]
        more = used | _names(*chosen)
        if more == used:
            return sorted([*chosen, *functions], key=lambda s: s.lineno)
        used = more


def _bound(statement: ast.stmt) -> set[str]:
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _names(*nodes: ast.stmt) -> set[str]:
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _target(statement: ast.stmt) -> str:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]  # type: ignore[attr-defined]
    return ast.unparse(targets[0])
