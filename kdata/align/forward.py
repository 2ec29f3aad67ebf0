"""The text of the new forward: sizes read off shapes, launchers called, outputs returned."""

from __future__ import annotations

import ast
import re
from typing import Any

import sympy

from kdata.align import launch, symbols
from kdata.align.outputs import Outputs
from kdata.align.state import Forward, attribute, base, offset, say, sizes
from kdata.align.trees import walk


def forward(state: Forward, old: ast.FunctionDef, outputs: Outputs) -> str:
    """The text of the new forward."""
    values = [value(state, node) for node in state.module.returns]
    ending = outputs.lines(values)
    text = "\n".join([*state.lines, *ending])
    used = [s for s, name in state.known.items() if re.search(rf"(?<![\w.]){re.escape(name)}\b", text)]
    body = [*_telling(state, [s for s in used if s in state.told]), *ending]
    used = [s for s in used if s not in state.told]
    binding = launch.Binding(state.known)
    inputs = [(state.access[a], b) for a, b in state.buffers.items() if a in state.access]
    shapes = binding.bind([symbols.symbol(s) for s in used], inputs)
    told = [(state.known[str(s)], attribute(state, str(s))) for s in binding.missing]
    shapes += [f"{name} = {access}" for name, access in told if name != access]  # else forward is given it
    lines = [*state.traced.given(), *state.traced.constants(), *shapes, *body]
    plain_arguments = ast.unparse(_without_annotations(old.args))
    return f"def forward({plain_arguments}):\n    " + "\n    ".join(_returning(lines))


def _telling(state: Forward, extents: list[str]) -> list[str]:
    """The lines of forward, with those that read sizes off what convolutions and poolings made."""
    lines: list[str] = []
    for number, line in enumerate(state.lines):
        lines.append(line)
        for name in dict.fromkeys(state.told[s][1] for s in extents if state.told[s][0] == number):
            wanted = [symbols.symbol(s) for s in extents if state.told[s][1] == name]
            lines += launch.Binding(state.known).bind(wanted, [(state.local[name], state.buffers[name])])
    return lines


def _returning(lines: list[str]) -> list[str]:
    """``y = f(x); return y`` as ``return f(x)``."""
    last = re.fullmatch(r"return (\w+)", lines[-1])
    made = re.fullmatch(rf"{last.group(1)} = (\w+\(.*\))", lines[-2]) if last and len(lines) > 1 else None
    return [*lines[:-2], f"return {made.group(1)}"] if made else lines


def _without_annotations(arguments: ast.arguments) -> ast.arguments:
    for argument in walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return arguments


def value(state: Forward, node: ast.expr) -> str:
    """A returned value: a tensor, or a view of one."""
    match node:
        case ast.Constant():
            return ast.unparse(node)
        case ast.Name(id=name) if name in state.views:
            return value(state, state.views[name])
        case ast.Name(id=name) if name in state.buffers:
            return say(state, name)
        case ast.Call(func=ast.Name(id="reinterpret_tensor"), args=[inner, size, stride, _]):
            buffer = state.buffers[base(state, inner)]
            return _view(state, buffer, sizes(state, size), sizes(state, stride), offset(state, node))
    expression = symbols.substitute(symbols.read(node), state.values)
    return launch.render(expression, state.known)


def _view(state: Forward, base: launch.Buffer, size: tuple[Any, ...], stride: tuple[Any, ...], offset: Any) -> str:
    """A view as ``view`` and ``permute``, or as a slice, where these can say it, else ``as_strided``."""
    name, said = say(state, base.name), launch.shape(size, state.known)
    if base.is_contiguous and offset == 0:
        if size == base.size and launch.is_contiguous(size, stride):
            return name
        order = sorted(range(len(size)), key=lambda axis: (-hint(state, stride[axis]), axis))
        if launch.is_contiguous([size[i] for i in order], [stride[i] for i in order]):
            view = f"{name}.view({', '.join(launch.render(size[i], state.known) for i in order)})"
            back = [order.index(axis) for axis in range(len(size))]
            return view if back == sorted(back) else f"{view}.permute({', '.join(map(str, back))})"
    if (part := _slice(state, base, size, stride, offset)) is not None:
        return f"{name}[{part}]"
    start = f"{name}.storage_offset()" + (f" + {launch.render(offset, state.known)}" if offset != 0 else "")
    return f"{name}.as_strided({said}, {launch.shape(stride, state.known)}, {start})"


def _slice(
    state: Forward, base: launch.Buffer, size: tuple[Any, ...], stride: tuple[Any, ...], offset: Any
) -> str | None:
    """The subscript that takes a view out of its tensor, where it is a range or a single index along one axis."""
    for axis, step in enumerate(base.stride):
        start = sympy.expand(sympy.cancel(offset / step))
        others = [n for i, n in enumerate(base.size) if i != axis], [n for i, n in enumerate(base.stride) if i != axis]
        before = ":, " * axis
        if not start.is_polynomial() or any(f.denominator != 1 for f in start.as_coefficients_dict().values()):
            continue
        if others == (list(size), list(stride)):
            return before + launch.render(start, state.known)
        kept = [n for i, n in enumerate(size) if i != axis], [n for i, n in enumerate(stride) if i != axis]
        if len(size) == len(base.size) and others == kept and (stride[axis] == step or size[axis] == 1):
            return f"{before}{launch.render(start, state.known)} : {launch.render(start + size[axis], state.known)}"
    return None


def hint(state: Forward, expression: Any) -> int:
    """What a size comes to with the task's own numbers."""
    return int(expression.subs({symbols.symbol(s): h for s, h in state.traced.hints.items()}))
