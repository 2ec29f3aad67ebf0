"""Kernels said to Python as they are said to Triton's compiler: rewritten before they are interpreted. In the child.

Where the two read the same words differently, in triton 3.7.1:

- ``and``, ``or`` and ``not`` of tensors: the compiler computes all operands and joins them element by element; Python
  asks the first whether it is true, and takes one of them.  What is known when it is compiled ends early in both.
- ``min`` and ``max`` of tensors: the compiler has them element by element; Python compares the first two as wholes.
- ``range`` and ``tl.range``: for the compiler what they count is a number of its language, see ``interpreter.wide``.
- the interpreter puts all names of its own module into the candidate's, by which a wrapper could ask who runs its
  kernels, and its own names can be bound by a text.  The names put there here are none that text can say.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from functools import partial, reduce
from types import FunctionType
from typing import Any

import triton.language as tl
from triton.runtime import interpreter

from kdata.verify.interpreter import wide

JOIN_ALL, JOIN_ANY, NEGATE, LEAST, MOST, COUNT, ASSIGN = (
    f"interpreted {name}" for name in ("and", "or", "not", "min", "max", "range", "=")
)
OUTER = "interpreted_outer"
BUILTINS = {"min": LEAST, "max": MOST, "range": COUNT}


def install() -> None:
    """Have kernels rewritten so, once a process."""
    rewriter: Any = vars(interpreter)["FunctionRewriter"]
    semantic = vars(interpreter)["interpreter_semantic"]
    known = {
        JOIN_ALL: _all, JOIN_ANY: _any, NEGATE: _negated, LEAST: _extreme("min"), MOST: _extreme("max"),
        COUNT: wide.counted, ASSIGN: lambda value: semantic.to_tensor(value, False),
    }  # fmt: skip

    def transform(self: Any, text: str) -> ast.Module:
        tree = ast.parse(text)
        own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        own |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)} | self.fn.__globals__.keys()
        own |= set(self.fn.__code__.co_freevars)
        _AsCompiled(BUILTINS.keys() - own).visit(tree)
        ast.fix_missing_locations(tree)
        ast.increment_lineno(tree, self.def_file_lineno - 1)
        return tree

    def define(self: Any, tree: ast.Module) -> Any:
        space, local = self.fn.__globals__, dict(self.kwargs)
        space.update(known)
        if self.fn.__closure__:
            return _within(self.fn, tree, self.filename)
        exec(compile(tree, self.filename, "exec", dont_inherit=True), space, local)  # noqa: S102 - as the original
        return local[self.fn.__name__]

    rewriter._transform_ast, rewriter._compile_and_exec = transform, define


def _within(function: FunctionType, tree: ast.Module, filename: str) -> Any:
    """What a kernel that stands in a function is rewritten to: it is told what it uses of that function's names."""
    held = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    outer: Any = ast.parse(f"def {OUTER}({', '.join(held)}):\n    return {function.__name__}")
    outer.body[0].body[:0] = tree.body
    code = compile(ast.fix_missing_locations(outer), filename, "exec", annotations.compiler_flag, dont_inherit=True)
    local: dict[str, Any] = {}
    exec(code, function.__globals__, local)  # noqa: S102 - as the original
    return local[OUTER](*(cell.cell_contents for cell in held.values()))


class _AsCompiled(ast.NodeTransformer):
    def __init__(self, unbound: set[str]) -> None:
        self._unbound = unbound  # builtins that mean to the kernel what they mean to Python

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        if len(node.targets) > 1:
            raise ValueError("Multiple assignments are not supported")
        node.value = _call(ASSIGN, node.value)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        nothing = ast.arguments([], [], None, [], [], None, [])
        operands = [ast.Lambda(nothing, value) for value in node.values]
        return _call(JOIN_ALL if isinstance(node.op, ast.And) else JOIN_ANY, *operands)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return _call(NEGATE, node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self._unbound:
            node.func.id = BUILTINS[node.func.id]
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "range" and node.args:
            said = [k for k in node.keywords if k.arg in ("step", "num_stages")]  # not how it is unrolled
            return ast.Call(ast.Name(COUNT, ast.Load()), node.args, said)
        return node


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _all(*operands: Callable[[], Any]) -> Any:
    return _joined(operands, False, lambda left, right: left & right)


def _any(*operands: Callable[[], Any]) -> Any:
    return _joined(operands, True, lambda left, right: left | right)


def _joined(operands: tuple[Callable[[], Any], ...], ending: bool, join: Callable[[Any, Any], Any]) -> Any:
    """The tensors among the operands, joined; or, as in Python, what ends the row, or is its last."""
    tensors, value = [], None
    for operand in operands:
        value = operand()
        if isinstance(value, tl.core.tensor):
            tensors.append(value)
        elif bool(value) is ending:
            return value
    if len(tensors) < 2:
        return tensors[0] if tensors else value
    return reduce(join, map(_truth, tensors))


def _negated(value: Any) -> Any:
    if not isinstance(value, tl.core.tensor):
        return not value
    true = _truth(value)
    return tl.core.tensor(vars(interpreter)["TensorHandle"](~true.handle.data, tl.int1), true.type)


def _truth(value: Any) -> Any:
    """A tensor of truth values; a comparison of numbers says that it is of their type."""
    data = value.handle.data != 0
    kind = tl.block_type(tl.int1, list(data.shape)) if value.type.is_block() else tl.int1
    return tl.core.tensor(vars(interpreter)["TensorHandle"](data, tl.int1), kind)


def _extreme(name: str) -> Callable[..., Any]:
    plain = getattr(builtins, name)

    def chosen(*values: Any, **options: Any) -> Any:
        if not any(isinstance(v, tl.core.tensor) for v in values):
            return plain(*values, **options)
        return reduce(partial(tl.minimum if name == "min" else tl.maximum, **options), values)

    return chosen
