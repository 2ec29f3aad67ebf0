"""Sizes that no shape tells: the module holds them as attributes, or its constructor is given them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from kdata.task import Program

POOLS = ("MaxPool", "AvgPool")
WORDS = ("kernel_size", "stride", "padding", "output_padding", "dilation", "groups", "bias")


def said_as(module: nn.Module, path: str) -> str:
    """``layers.0.norm.weight`` of a module, which may be the module itself, as ``self.layers[0].norm.weight``."""
    said, place = "self", module
    for part in path.split(".") if path else ():
        if isinstance(place, nn.ModuleDict | nn.ParameterDict):
            said += f"[{part!r}]"
        elif part.isdigit():
            said += f"[{part}]"
        else:
            said += f".{part}"
        place = place[part] if isinstance(place, nn.ParameterDict) else getattr(place, part)
    return said


def held(module: nn.Module) -> Iterator[tuple[str, Any]]:
    """What the attributes of a module and its parts hold, with how forward says each."""
    for path, part in module.named_modules():
        for name, value in vars(part).items():
            if not name.startswith("_"):
                yield f"{said_as(module, path)}.{name}", value


def positional(module: nn.Module) -> list[str]:
    """The names of what forward is given one after the other."""
    parameters = inspect.signature(module.forward).parameters.values()
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def given_sizes(module: nn.Module, inputs: Sequence[Any]) -> dict[str, str]:
    """Symbols that forward is given as plain numbers, with its parameter of each."""
    named = zip(positional(module), inputs, strict=False)
    return {symbol: name for name, value in named if (symbol := _symbol(value))}


def held_sizes(module: nn.Module) -> dict[str, str]:
    """Symbols that attributes hold, with their access: before forward is called, which may set others."""
    attributes: dict[str, str] = {}
    for said, value in held(module):
        if symbol := _symbol(value):
            attributes.setdefault(symbol, said)
    return attributes


def parameter_sizes(module: nn.Module, program: Program) -> dict[str, tuple[str, str]]:
    """Symbols of constructor parameters.

    Of each its name is given (``shape[2]`` of one that is a list), and that of an attribute of the module's that is
    free to keep it.
    """
    positional, keyword = program.arguments()
    given = inspect.signature(type(module)).bind(*positional, **keyword).arguments
    parameters: dict[str, tuple[str, str]] = {}
    for said, name, value in elements(given):
        if symbol := _symbol(value):
            parameters.setdefault(symbol, (said, kept_as(module, name)))
    return parameters


def kept_as(module: nn.Module, name: str) -> str:
    """The attribute that is to keep a constructor's parameter."""
    return f"{name}_given" if hasattr(module, name) else name


def elements(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """What a constructor is given, and what it has in lists: how it says each, a name for it, and its value."""
    for name, value in arguments.items():
        yield name, name, value
    for name, value in arguments.items():
        if isinstance(value, list | tuple):
            yield from ((f"{name}[{n}]", f"{name}_{n}", part) for n, part in enumerate(value))


def _symbol(value: Any) -> str:
    """The name of the size that a value is; "" if it is another value."""
    if isinstance(value, torch.SymInt) and isinstance(value.node.expr, sympy.Symbol):
        return str(value.node.expr)
    return ""


def plain_attributes(module: nn.Module) -> frozenset[str]:
    """Names of attributes that hold neither tensors nor modules, in any part of the module: only forward reads them."""
    plain: set[str] = set()
    other: set[str] = set()
    for part in module.modules():
        other |= {*part._parameters, *part._buffers, *part._modules}
        for name, value in vars(part).items():
            held = any(isinstance(leaf, torch.Tensor | nn.Module) for leaf in tree_leaves(value))
            (other if held else plain).add(name)
    return frozenset(plain - other)


def keep_parameters(model: ast.ClassDef, kept: dict[str, str]) -> None:
    """Let the constructor keep parameters as attributes, before it can change them."""
    init = next(s for s in model.body if isinstance(s, ast.FunctionDef) and s.name == "__init__")
    calls = [i for i, s in enumerate(init.body) if "super(" in ast.unparse(s)]
    at = calls[0] + 1 if calls and all(isinstance(s, ast.Expr) for s in init.body[: calls[0] + 1]) else 0
    init.body[at:at] = ast.parse("\n".join(f"self.{attribute} = {name}" for name, attribute in kept.items())).body


@dataclass(frozen=True, slots=True)
class Layer:
    """A module that a convolution or a pooling may be the call of."""

    access: str  # how forward says it
    kind: str  # its class, "MaxPool2d"
    numbers: dict[str, Any]  # its attributes: integers, symbols, or tuples of them, and its bias


def layers(module: nn.Module) -> list[Layer]:
    """The convolutions and poolings of a module, in its order."""
    return [
        Layer(said_as(module, path), type(part).__name__, {w: getattr(part, w) for w in WORDS if hasattr(part, w)})
        for path, part in module.named_modules()
        if isinstance(part, nn.modules.conv._ConvNd) or type(part).__name__[:-2] in POOLS
    ]
