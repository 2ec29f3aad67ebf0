"""The state of a forward that is being written, and how it names what Inductor's wrapper speaks of."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

import sympy

from kdata.align import inductor, kernel, launch, symbols
from kdata.align.errors import AlignError
from kdata.align.naming import identifier
from kdata.align.patterns import Convolution, Pool
from kdata.align.trace import Traced


@dataclass(slots=True)
class Forward:
    """The new forward while it is written."""

    traced: Traced
    module: inductor.Module
    known: dict[str, str]  # size symbol -> name
    access: dict[str, str]  # Inductor's argument -> how forward says it
    buffers: dict[str, launch.Buffer] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)  # Inductor's integer variables -> expressions
    written: set[str] = field(default_factory=set)
    local: dict[str, str] = field(default_factory=dict)  # buffer -> local name
    views: dict[str, ast.expr] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    launchers: dict[str, list[tuple[str, launch.Launcher, launch.Call, dict[str, str]]]] = field(default_factory=dict)
    kernels: dict[str, kernel.Written] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    integers: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # of every call still to be written
    inputs: set[str] = field(default_factory=set)
    kept: dict[str, str] = field(default_factory=dict)  # constructor parameters -> attributes that keep them
    final: set[str] = field(default_factory=set)  # buffers that forward returns
    aliases: dict[str, str] = field(default_factory=dict)  # second names of buffers
    patterns: dict[Convolution | Pool, tuple[str, Convolution | Pool]] = field(default_factory=dict)  # launcher, text
    told: dict[str, tuple[int, str]] = field(default_factory=dict)  # extent -> line and buffer that first have it
    pools: set[str] = field(default_factory=set)  # modules whose calls are written


def base_name(node: ast.expr) -> str:
    """The buffer under inline views."""
    while isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    return ast.unparse(node)


def short(access: str) -> str:
    """``self.block[0].fc1.weight`` -> fc1_weight; ``x`` -> x."""
    parts = [p for p in re.split(r"\W+", access) if p and p != "self"]
    said = "_".join(parts[-2:]) if parts[-1] in ("weight", "bias", "running_mean", "running_var") else parts[-1]
    return identifier(said, lower=False)


def sizes(state: Forward, node: ast.expr) -> tuple[Any, ...]:
    """The elements of a shape or of strides, over the task's sizes."""
    assert isinstance(node, ast.Tuple)
    return tuple(symbols.substitute(symbols.read(e), state.values) for e in node.elts)


def base(state: Forward, node: ast.expr) -> str:
    """The buffer under views."""
    while True:
        match node:
            case ast.Name(id=name) if name in state.views:
                node = state.views[name]
            case ast.Name(id=name):
                return name
            case ast.Call(func=ast.Name(id="reinterpret_tensor"), args=[inner, *_]):
                node = inner
            case _:
                raise AlignError("compiler output", f"an argument {ast.unparse(node)}")


def offset(state: Forward, node: ast.expr) -> Any:
    """How many elements into its buffer an argument starts."""
    match node:
        case ast.Name(id=name) if name in state.views:
            return offset(state, state.views[name])
        case ast.Call(func=ast.Name(id="reinterpret_tensor"), args=[inner, _, _, start]):
            return offset(state, inner) + symbols.substitute(symbols.read(start), state.values)
    return sympy.Integer(0)


def say(state: Forward, buffer: str) -> str:
    """How forward says a buffer of Inductor's."""
    return state.access.get(buffer) or state.local[buffer]


def attribute(state: Forward, size: str) -> str:
    """The attribute that holds a size which no shape tells, or a number, kept by the constructor if need be."""
    if size in state.traced.attributes:
        return state.traced.attributes[size]
    if size not in state.traced.parameters:
        raise AlignError("compiler output", f"a size that no shape tells: {state.known[size]}")
    parameter, attribute = state.traced.parameters[size]
    state.kept[parameter] = attribute
    return f"self.{attribute}"
