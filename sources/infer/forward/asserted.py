"""What the assertions of a ``forward``, and its tests before a ``raise``, say of its inputs: their ranks and sizes.

Only the syntax of a failed test is read, with the shapes that its names had; nothing of the program is called.
"""

from __future__ import annotations

import ast
import copy
import itertools
import linecache
import re
import textwrap
import traceback
import types
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from sources.hints.demands import statements
from sources.infer.forward import spoken
from sources.infer.forward.entries import with_asked
from sources.infer.forward.input_guesses import source
from sources.infer.forward.keyed import as_mappings
from sources.infer.forward.optional import is_absent, up_to
from sources.infer.inputs import BATCH, Many, Specs, Tensor, all_tensors, edited
from sources.text.remembered import parsed

MAX_LINES = 12  # of one assertion
MAX_LIST = 8  # parts of an input
EXTENT, MAX_LENGTH = 8, 4096  # of maps whose sides are given as values, and of all their places
# What a test computes of values with no more than arithmetic and the methods of tensors.
_COMPUTED = (ast.Name, ast.Constant, ast.BinOp, ast.operator, ast.Subscript, ast.Slice, ast.Tuple, ast.UnaryOp,
             ast.unaryop, ast.Call, ast.Attribute, ast.expr_context)  # fmt: skip
LABELS = 16  # values of what is to be whole numbers
_KINDS = {"LongTensor": "int", "long": "int", "int64": "int", "BoolTensor": "bool", "bool": "bool",
          "FloatTensor": "float", "float": "float", "float32": "float"}  # fmt: skip
_OF_SIZES = re.compile(r"\b(shape|size|dim|ndim|len|numel|isinstance|type|dtype|is None|is not None)\b")
_OF_VALUES = re.compile(r"\b(min|max|amin|amax|any|all)\(.*[<>]")
_WHOLE = re.compile(r"\w+\.(shape|size\(\))")  # the whole shape of a tensor
_SURPLUS = re.compile(r"takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) (?:was|were) given")


def wishes(error: Exception, file: str, specs: Specs, module: nn.Module) -> Iterator[Specs]:
    """Inputs with which the assertion that failed may hold: of the same shape as what it looks at, changed."""
    every = list(traceback.walk_tb(error.__traceback__))
    frames = [(f, n) for f, n in every if f.f_code.co_filename == file]
    if not frames:
        return
    for frame, line in frames:
        yield from _lacking(str(error), frame, line, specs, module)
    frame, line = frames[-1]
    yield from _starred(str(error), frame, line, specs)
    asserts = isinstance(error, AssertionError)
    test = _assertion(file, line) if asserts else _tested(file, line) if frame is every[-1][0] else None
    values = {**frame.f_globals, **frame.f_locals}
    for node in ast.walk(_spelled_out(test, file, line)) if test else ():
        if _asks_for_mapping(node):
            yield from as_mappings(specs, module)
        yield from _typed(node, values, specs)
        if not isinstance(node, ast.Compare):
            continue
        if all(isinstance(op, ast.Eq if asserts else ast.Eq | ast.NotEq) for op in node.ops):
            yield from _equal([node.left, *node.comparators], values, specs, module)
            yield from _divided(node.left, node.comparators[-1], values, specs, module)
            yield from _listed([node.left, *node.comparators], values, specs)
            yield from _counted(node.left, node.comparators[-1], values, specs)
            yield from _counted(node.comparators[-1], node.left, values, specs)
        elif isinstance(node.ops[0], ast.In | ast.NotIn) and isinstance(node.comparators[0], ast.Tuple | ast.List):
            for choice in node.comparators[0].elts:
                yield from _equal([node.left, choice], values, specs, module)
        elif isinstance(node.ops[0], ast.In | ast.NotIn):
            yield from with_asked(node, values, specs, module)
    text = ast.unparse(test) if test is not None else ""
    if text and not _OF_SIZES.search(text) and (asserts or _OF_VALUES.search(text)):
        positive = specs
        for path, t in all_tensors(specs):
            positive = edited(positive, path, replace(t, kind="unit")) if t.kind == "float" else positive
        yield positive


def of_settings(error: Exception, file: str) -> bool:
    """Whether the test that failed looks at nothing but what the module was constructed with: no inputs will do."""
    every = list(traceback.walk_tb(error.__traceback__))
    if not every or every[-1][0].f_code.co_filename != file:
        return False
    frame, line = every[-1]
    test = _assertion(file, line) if isinstance(error, AssertionError) else _tested(file, line)
    within = list(ast.walk(test)) if test is not None else []
    read = {n.id for n in within if isinstance(n, ast.Name)}
    of_self = [n for n in within if isinstance(n, ast.Attribute)]
    if "self" not in read or any(name in frame.f_locals for name in read - {"self"}):
        return False
    ways = "".join(source(f.f_code) for f, _ in every if f.f_code.co_filename == file)
    return not any(re.search(rf"\.{n.attr}\b[^=\n]*(?<![=!<>])=(?!=)", ways) for n in of_self)


def of_values(file: str) -> bool:
    """Whether a program asserts bounds of values, ``assert loss <= 1``: they may hold for some draws only."""
    asserted = re.findall(r"(?m)^\s*assert (.*[<>].*)", "".join(linecache.getlines(file)) if file else "")
    return any(not _OF_SIZES.search(test) for test in asserted)


def of_absent(error: Exception, file: str) -> bool:
    """Whether a line fails on a name of the whole program that is None, such as a library that was not compiled.

    Whatever the inputs are, and the arguments: who gets there gets no further.
    """
    every = [step for step in traceback.walk_tb(error.__traceback__) if step[0].f_code.co_filename == file]
    if "'NoneType' object" not in str(error) or not every:
        return False
    frame, line = every[-1]
    try:
        within = ast.walk(ast.parse(_statement(file, line).strip()))
    except SyntaxError:
        return False
    used = (n.func if isinstance(n, ast.Call) else n.value for n in within if isinstance(n, ast.Call | ast.Attribute))
    return any(isinstance(n, ast.Name) and n.id not in frame.f_locals and frame.f_globals.get(n.id, 0) is None
               for n in used)  # fmt: skip


def _asks_for_mapping(node: ast.AST) -> bool:
    """Whether a test is one of a value being a dictionary: ``isinstance(batch, dict)``."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) != "isinstance" or len(node.args) != 2:
        return False
    return re.search(r"\b(dict|Mapping)\b", ast.unparse(node.args[1])) is not None


def _typed(node: ast.AST, values: Mapping[str, Any], specs: Specs) -> Iterator[Specs]:
    """What is to be of a type, ``isinstance(x, torch.LongTensor)`` or ``x.dtype == torch.bool``, is drawn as such."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[given, wanted]):
            pass
        case ast.Compare(left=ast.Attribute(value=given, attr="dtype"), ops=[ast.Eq()], comparators=[wanted]):
            pass
        case _:
            return
    value, kind = values.get(ast.unparse(given)), _KINDS.get(ast.unparse(wanted).split(".")[-1], "")
    shape = tuple(value.shape) if isinstance(value, torch.Tensor) else None
    for path, t in all_tensors(specs) if kind else ():
        if t.shape == shape and t.kind != kind:
            yield edited(specs, path, Tensor(t.shape, kind, LABELS if kind == "int" else 0))


def _lacking(message: str, frame: types.FrameType, line: int, specs: Specs, module: nn.Module) -> Iterator[Specs]:
    """Inputs with an optional one that is None, or a tensor of no rows, where a line needs it."""
    text, test = _statement(frame.f_code.co_filename, line), _tested(frame.f_code.co_filename, line)
    asked = ast.unparse(test) if test is not None else ""
    lacks = re.search(r"None|Dimension out of range", message) or text.lstrip().startswith("assert ")
    if lacks or re.search(r" is None|\bexists\(", asked):
        text += asked
        for name in dict.fromkeys(re.findall(r"[^\W\d]\w*", text)):
            if name in frame.f_locals and is_absent(frame.f_locals[name]):
                yield from up_to(module, specs, name)


def _spelled_out(test: ast.expr, file: str, line: int) -> ast.expr:
    """A test with ``x.shape[1]`` in place of a variable that was given it, or unpacked out of ``x.shape``."""
    try:
        path = statements(parsed("".join(linecache.getlines(file))), line)
    except SyntaxError:
        return test
    function = next((s for s in reversed(path) if isinstance(s, ast.FunctionDef)), None)
    given: dict[str, ast.expr] = {}
    for node in ast.walk(function) if function else ():
        if isinstance(node, ast.Assign) and node.lineno < line and len(node.targets) == 1:
            given |= dict(_sizes(node.targets[0], node.value))

    class Spelled(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            return given.get(name.id, name)

    result: ast.expr = Spelled().visit(copy.deepcopy(test))
    return result


def _sizes(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Variables that are given sizes of tensors, with what says these."""
    if isinstance(target, ast.Name) and (spoken.of_tensor(value)[0] or _WHOLE.fullmatch(ast.unparse(value))):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and _WHOLE.fullmatch(said := ast.unparse(value)):
        for i, name in enumerate(target.elts):
            if isinstance(name, ast.Name):
                yield name.id, ast.parse(f"{said}[{i}]", mode="eval").body


def _statement(file: str, line: int) -> str:
    """The lines of the statement that a line is part of, of a block its head only."""
    try:
        path = statements(parsed("".join(linecache.getlines(file))), line)
    except SyntaxError:
        path = []
    last = line
    if path and not hasattr(path[-1], "body"):
        line, last = path[-1].lineno, path[-1].end_lineno or line
    return "".join(linecache.getline(file, n) for n in range(line, last + 1))


def _tested(file: str, line: int) -> ast.expr | None:
    """The test of the branch that ends in the ``raise`` of a line."""
    try:
        path = statements(parsed("".join(linecache.getlines(file))), line)
    except SyntaxError:
        return None
    test = path[-2] if len(path) > 1 and isinstance(path[-1], ast.Raise) else None
    return test.test if isinstance(test, ast.If) else None


def _assertion(file: str, line: int) -> ast.expr | None:
    """The test of the assertion that a line is part of."""
    for start, count in itertools.product(range(line, line - MAX_LINES, -1), range(1, MAX_LINES + 1)):
        text = textwrap.dedent("".join(linecache.getline(file, start + i) for i in range(count)))
        if not text.startswith("assert"):
            continue
        try:
            statement = ast.parse(text).body[0]
        except SyntaxError:
            continue
        return statement.test if isinstance(statement, ast.Assert) else None
    return None


def _equal(sides: list[ast.expr], values: Mapping[str, Any], specs: Specs, module: nn.Module) -> Iterator[Specs]:
    """Each side that is a rank or a size of an input is given the value of another one."""
    whole = list(filter(None, (spoken.shape(side, values) for side in sides)))
    for path, t in all_tensors(specs):
        yield from (edited(specs, path, replace(t, shape=s)) for s in whole if t.shape in whole and s != t.shape)
    yield from _ends(sides, values, specs)
    known = [(spoken.place(side, values), spoken.value(side, values)) for side in sides]
    for place, value in known:
        wanted = dict.fromkeys(v for _, v in known if isinstance(v, int) and v != value)
        if place and any(t.shape == place[0] for _, t in all_tensors(specs)):
            for (path, t), v in itertools.product(all_tensors(specs), wanted):
                if t.shape == place[0] and (other := spoken.changed(t, place[1], v, module)):
                    yield edited(specs, path, other)
        elif place and isinstance(value, int):
            yield from (s for v in wanted for s in _in_proportion(place, value, v, specs))


def _in_proportion(place: spoken.Place, got: int, wanted: int, specs: Specs) -> Iterator[Specs]:
    """A size of what is made of the inputs is to be another one: theirs at the same place changes in proportion."""
    shape, at = place
    for path, t in all_tensors(specs) if at is not None and wanted > 0 and got > 0 else ():
        if at is not None and len(t.shape) == len(shape):
            size, rest = divmod(t.shape[at % len(shape)] * wanted, got)
            if not rest and 0 < size <= MAX_LENGTH:
                yield edited(specs, path, t.resized(at % len(shape), size))


def _ends(sides: list[ast.expr], values: Mapping[str, Any], specs: Specs) -> Iterator[Specs]:
    """What is left of a shape without its first sizes is to be what the module holds: ``x.shape[1:] == self.shape``."""
    for side, other in itertools.permutations(sides, 2):
        rest = side.slice if isinstance(side, ast.Subscript) and _WHOLE.fullmatch(ast.unparse(side.value)) else None
        wanted = spoken.value(other, values)
        first = (
            spoken.value(rest.lower, values) if isinstance(rest, ast.Slice) and rest.lower and not rest.upper else None
        )
        if type(first) is not int or not isinstance(wanted, tuple | list) or not wanted or first < 0:
            continue
        assert isinstance(side, ast.Subscript)
        have = spoken.shape(side.value, values)
        for path, t in all_tensors(specs):
            if t.shape == have and all(type(n) is int and n > 0 for n in wanted):
                lead = (*t.shape, *[BATCH] * first)[:first]
                yield edited(specs, path, replace(t, shape=(*lead, *wanted)))


def _divided(
    side: ast.expr, rest: ast.expr, values: Mapping[str, Any], specs: Specs, module: nn.Module
) -> Iterator[Specs]:
    """Sizes that leave no rest: ``assert width % (3 * self.heads) == 0``, ``assert (width - 1) % 8 == 0``."""
    if not isinstance(side, ast.BinOp) or not isinstance(side.op, ast.Mod) or spoken.value(rest, values) != 0:
        return
    counted, more = _shifted(side.left)
    place, size = spoken.place(counted, values), spoken.value(counted, values)
    try:
        least = eval(ast.unparse(side.right), {"__builtins__": {}}, dict(values))  # noqa: S307 - numbers of the module
    except Exception:  # noqa: BLE001 - it is made of more than names
        return
    if not place or place[1] is None or type(least) is not int or type(size) is not int or not 1 < least <= 1 << 12:
        return
    for path, t in all_tensors(specs):
        for times in dict.fromkeys((max(1, size // least), 1, 8)):
            if t.shape == place[0] and (other := spoken.changed(t, place[1], times * least + more, module)):
                yield edited(specs, path, other)


def _shifted(side: ast.expr) -> tuple[ast.expr, int]:
    """What a number is taken from, or added to, and how much it is to be more for that: ``width - 1`` is one more."""
    number = side.right if isinstance(side, ast.BinOp) else None
    if isinstance(side, ast.BinOp) and isinstance(number, ast.Constant) and type(number.value) is int:
        if isinstance(side.op, ast.Sub):
            return side.left, number.value
        if isinstance(side.op, ast.Add):
            return side.left, -number.value
    return side, 0


def _listed(sides: list[ast.expr], values: Mapping[str, Any], specs: Specs) -> Iterator[Specs]:
    """What is to be so long as a whole, ``len(x) == 2``, is a list, whatever it was."""
    for side, other in itertools.permutations(sides, 2):
        called = isinstance(side, ast.Call) and ast.unparse(side.func) == "len" and len(side.args) == 1
        given = values.get(ast.unparse(side.args[0])) if isinstance(side, ast.Call) and called else None
        length = spoken.value(other, values)
        if type(length) is int:
            yield from _as_long(given, length, specs)


def _starred(message: str, frame: types.FrameType, line: int, specs: Specs) -> Iterator[Specs]:
    """What is handed on as ``f(*x)`` has as many parts as f takes."""
    match = _SURPLUS.search(message)
    if match is None:
        return
    for name in re.findall(r"[(,]\s*\*(\w+)\s*[,)]", _statement(frame.f_code.co_filename, line)):
        if isinstance(given := frame.f_locals.get(name), torch.Tensor | list | tuple):
            yield from _as_long(given, len(given) + int(match[1]) - int(match[2]), specs)


def _as_long(given: Any, length: int, specs: Specs) -> Iterator[Specs]:
    """The inputs with the one that was ``given`` as a list of so many parts."""
    if not isinstance(given, torch.Tensor | list | tuple) or not 0 < length <= MAX_LIST:
        return
    for at, spec in enumerate(specs):
        alike = isinstance(spec, Many) and len(spec.items) == len(given) and spec.kind in ("list", "tuple")
        if isinstance(spec, Tensor) and isinstance(given, torch.Tensor) and spec.shape == tuple(given.shape):
            yield edited(specs, (at,), Many((spec,) * length))
        elif isinstance(spec, Many) and alike and not isinstance(given, torch.Tensor):
            items = (spec.items + spec.items[-1:] * length)[:length]
            yield edited(specs, (at,), replace(spec, items=items))


def _counted(side: ast.expr, size: ast.expr, values: Mapping[str, Any], specs: Specs) -> Iterator[Specs]:
    """What is computed of an input's values is the ``size`` of another: ``(shapes[:, 0] * shapes[:, 1]).sum()``."""
    place = spoken.place(size, values)
    names = {n.id for n in ast.walk(side) if isinstance(n, ast.Name)}
    computed = all(isinstance(n, _COMPUTED) for n in ast.walk(side)) and not _OF_SIZES.search(ast.unparse(side))
    if not place or place[1] is None or len(names) != 1 or not computed:
        return
    (name,) = names
    given = values.get(name)
    shape = tuple(given.shape) if isinstance(given, torch.Tensor) else ()
    try:
        counted = int(eval(ast.unparse(side), {"__builtins__": {}}, {name: torch.full(shape, EXTENT)}))  # noqa: S307
    except Exception:  # noqa: BLE001 - tensors have no such method, or it gives no number
        return
    for path in [p for p, t in all_tensors(specs) if t.shape == shape and 0 < counted <= MAX_LENGTH]:
        wished = edited(specs, path, Tensor(shape, "full", EXTENT))
        for other_path, other in all_tensors(wished):
            if other.shape == place[0] and other_path != path:  # what goes with it is as long
                wished = edited(wished, other_path, other.resized(place[1] % len(other.shape), counted))
        yield wished
