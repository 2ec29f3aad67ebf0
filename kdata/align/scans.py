"""Kernel text: running sums and products as ``tl.cumsum`` and ``tl.cumprod``, and what blocks carry on as one number.

Inductor scans with a function of its own, takes the last column of every block by a mask, and tells the first block
from the others.  Here blocks start at zero (or one) and add what the block before them sums up to.
"""

from __future__ import annotations

import ast

from kdata.align.inductor import Kernel
from kdata.align.trees import Replace, walk

# combining operator -> the scan, the reduction of a block, and what a scan starts at
PLAIN: dict[type[ast.operator], tuple[str, str, int]] = {
    ast.Add: ("tl.cumsum", "tl.sum", 0),
    ast.Mult: ("tl.cumprod", "triton_helpers.prod", 1),
}


def plain_scans(kernel: Kernel) -> None:
    """Rewrite a kernel's scans in place, as Inductor writes them; functions that nothing combines with are dropped."""
    operators = {f.name: op for f in kernel.combines if (op := _operator(f)) in PLAIN}
    for block in [kernel.function.body, *(s.body for s in kernel.function.body if isinstance(s, ast.For))]:
        for statement in list(block):
            match statement:
                case ast.Assign(
                    targets=[ast.Tuple(elts=[ast.Name(id=name)])],
                    value=ast.Call(args=[ast.Tuple(elts=[value]), axis, ast.Name(id=combine)]) as call,
                ) if ast.unparse(call.func) == "tl.associative_scan" and combine in operators:
                    scan, total, start = PLAIN[operators[combine]]
                    statement.targets = [ast.Name(name, ast.Store())]
                    statement.value = _call(scan, value, axis)
                    _carry(kernel.function, block, name, _across(total, value, axis), start)
    used = {n.id for n in walk(kernel.function) if isinstance(n, ast.Name)}
    kernel.combines = [f for f in kernel.combines if f.name in used]


def _operator(function: ast.FunctionDef) -> type[ast.operator] | None:
    """The operator of a function that says ``return a + b``."""
    match function.body:
        case [ast.Assign(targets=[ast.Name(id=made)], value=ast.BinOp(ast.Name(), op, ast.Name())),
              ast.Return(value=ast.Name(id=returned))] if made == returned:  # fmt: skip
            return type(op)
    return None


def _carry(function: ast.FunctionDef, block: list[ast.stmt], scan: str, total: ast.expr, start: int) -> None:
    """Let every block of a scan begin with what the blocks before it came to."""
    made = {s.targets[0].id: s for s in block if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)}
    for statement in made.values():
        match statement.value:
            case ast.Call(ast.Attribute(ast.Name("tl"), "where"), [ast.Compare(ast.Name("roffset")), later, first]) if (
                ast.unparse(first) == scan  # what is stored: carried and scanned
            ):
                statement.value = made[ast.unparse(later)].value
                assert isinstance(statement.value, ast.BinOp)
                carried = ast.unparse(statement.value.left)
                made[carried].value = ast.BinOp(ast.Name(carried, ast.Load()), statement.value.op, total)
                _start(function, carried, start)


def _start(function: ast.FunctionDef, name: str, value: int) -> None:
    """What a name holds before the first block: Inductor says ``tl.full(shape, nan, dtype)``."""
    for statement in function.body:
        match statement:
            case ast.Assign([ast.Name(id=target)], ast.Call(args=[_, _, _] as arguments)) if target == name:
                arguments[1] = ast.Constant(value)


def _across(function: str, value: ast.expr, axis: ast.expr) -> ast.expr:
    column = ast.parse("x[:, None]", mode="eval").body
    replaced: ast.expr = Replace({"x": _call(function, value, axis)}).visit(column)
    return replaced


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.parse(function, mode="eval").body, list(arguments), [])
