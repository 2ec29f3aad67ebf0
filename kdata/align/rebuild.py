"""A constructor that makes plain layers of torch, where the task's own needs what a candidate may not say.

Registries, factories and signatures that are inspected end in layers: ``Conv["conv", 3](8, 16)`` in an ``nn.Conv3d``.
What was built is read off the module and written down, sizes by the constructor's parameters.  It is used where it
makes the same state, number for number, as the task's constructor does.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from kdata.align import launch, symbols
from kdata.align.model import NEW
from kdata.align.trace import Traced
from kdata.task import execute
from kdata.verify.candidate.source import object_to

IMPORT = "import torch.nn as nn"
DEVICE = ("device", "dtype")
PLAIN = (int, float, str, bool, type(None))


class UnsaidError(Exception):
    """The module holds something that is no layer of torch."""


def rebuilt(source: str, entry_point: str, traced: Traced, imports: list[str], text: str) -> tuple[list[str], str]:
    """Import lines and classes of a candidate: those given, or a class with a plain constructor where they may not be.

    Args:
        source: the task's text.
        entry_point: the name of its module.
        traced: the task as it was traced.
        imports: import lines.
        text: the classes, ``ModelNew`` last.
    """
    if object_to("\n".join([*imports, text])) is None or traced.constants():
        return imports, text
    new = next(s for s in ast.parse(text).body if isinstance(s, ast.ClassDef) and s.name == NEW)
    forward = next(s for s in new.body if isinstance(s, ast.FunctionDef) and s.name == "forward")
    said = ast.unparse(forward)
    try:
        base, built = _Writer(traced, said).module(traced.module)
        lines = [built[0], *_sizes(traced, said), *built[1:]]
    except UnsaidError:
        return imports, text
    head = f"def __init__({_parameters(traced.module)}):"
    body = "\n    ".join([head, *lines])
    plain = ast.parse(f"class {NEW}({base}):\n    pass").body[0]
    assert isinstance(plain, ast.ClassDef)
    plain.body = [*ast.parse(body).body, forward]
    made = ast.unparse(plain)
    return ([IMPORT], made) if _makes_the_same(source, entry_point, made) else (imports, text)


def _parameters(module: nn.Module) -> str:
    """The constructor's parameters as the task has them; defaults that are no plain values are None."""
    said = ["self"]
    for parameter in inspect.signature(type(module)).parameters.values():
        star = "*" * (parameter.kind is parameter.VAR_POSITIONAL) + "**" * (parameter.kind is parameter.VAR_KEYWORD)
        plain = type(parameter.default) in PLAIN
        default = "" if parameter.default is parameter.empty else f"={parameter.default if plain else None!r}"
        said.append(f"{star}{parameter.name}{default}")
    return ", ".join(said)


def _sizes(traced: Traced, forward: str) -> Iterator[str]:
    """Lines that keep the sizes that the new forward reads off attributes of the module itself."""
    for symbol, access in traced.attributes.items():
        name = access.removeprefix("self.")
        if access != name and name.isidentifier() and re.search(rf"{re.escape(access)}\b(?!\.)", forward):
            if symbol not in traced.parameters:
                raise UnsaidError
            yield f"{access} = {traced.parameters[symbol][0]}"
    for parameter, attribute in traced.parameters.values():
        if re.search(rf"self\.{attribute}\b", forward) and f"self.{attribute}" not in traced.attributes.values():
            yield f"self.{attribute} = {parameter}"


class _Writer:
    """Writes what a module is made of; modules without a state that forward does not speak of are left out."""

    def __init__(self, traced: Traced, forward: str) -> None:
        self.forward = forward
        self.known = {symbol: parameter for symbol, (parameter, _) in traced.parameters.items()}

    def module(self, module: nn.Module) -> tuple[str, list[str]]:
        """The base class of a task's module, and the lines of its constructor."""
        base, held = self._container("self", module)
        return base, [f"super().__init__({held})", *self.children("self", module)]

    def _container(self, access: str, module: nn.Module) -> tuple[str, str]:
        """The class that holds a module's parts, and what it is given."""
        names = list(module._modules)
        if isinstance(module, nn.ModuleDict):
            return "nn.ModuleDict", ""
        if not names or not all(name.isdigit() for name in names):
            return "nn.Module", ""
        if names != [str(n) for n in range(len(names))]:
            raise UnsaidError
        return "nn.Sequential", ", ".join(self._made(f"{access}[{n}]", m) for n, m in module._modules.items())

    def children(self, owner: str, module: nn.Module) -> Iterator[str]:
        """The lines that make the modules that one holds."""
        if any(t is not None for t in (*module._parameters.values(), *module._buffers.values())):
            raise UnsaidError
        for name, child in module._modules.items():
            keyed = isinstance(module, nn.ModuleDict)
            access = f"{owner}[{name!r}]" if keyed else f"{owner}[{name}]" if name.isdigit() else f"{owner}.{name}"
            if not (keyed or name.isdigit() or name.isidentifier()):
                raise UnsaidError
            if name.isdigit() and not keyed:
                yield from self._inside(access, child)
            elif self._is_needed(access, child):
                yield f"{access} = {self._made(access, child)}"
                yield from self._inside(access, child)

    def _inside(self, access: str, module: nn.Module | None) -> Iterator[str]:
        if module is not None and not _is_layer(module):
            yield from self.children(access, module)

    def _is_needed(self, access: str, module: nn.Module | None) -> bool:
        return bool(module is not None and module.state_dict()) or bool(
            re.search(rf"{re.escape(access)}(?!\w)", self.forward)
        )

    def _made(self, access: str, module: nn.Module | None) -> str:
        """The expression that makes a module, what it holds by names of its own left out."""
        if module is None or not self._is_needed(access, module):
            return "nn.Identity()"
        if _is_layer(module):
            return self._layer(module)
        kind, held = self._container(access, module)
        return f"{kind}({held})"

    def _layer(self, layer: nn.Module) -> str:
        arguments: list[str] = []
        for name, parameter in inspect.signature(type(layer)).parameters.items():
            needed = parameter.default is parameter.empty
            value = _single(layer, getattr(layer, name, parameter.default))
            if isinstance(parameter.default, bool) and not isinstance(value, bool):
                value = value is not None  # bias: a tensor or None
            if name in DEVICE or (not needed and _is_default(value, parameter.default)):
                continue
            said = self._value(value)
            arguments.append(said if needed else f"{name}={said}")
        return f"nn.{type(layer).__name__}({', '.join(arguments)})"

    def _value(self, value: Any) -> str:
        if isinstance(value, torch.SymInt):
            expression = symbols.plain(value)
            if any(str(s) not in self.known for s in expression.free_symbols):
                raise UnsaidError
            return launch.render(expression, self.known)
        if isinstance(value, tuple | list):
            return f"({', '.join(self._value(v) for v in value)}{',' * (len(value) == 1)})"
        if type(value) not in PLAIN:
            raise UnsaidError
        return repr(value)


def _is_layer(module: nn.Module) -> bool:
    """Whether it is a class of torch's own that holds no other modules."""
    return type(module).__module__.startswith("torch.nn.modules") and not module._modules and (
        getattr(nn, type(module).__name__, None) is type(module) and type(module) is not nn.Module
    )  # fmt: skip


def _is_default(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _single(layer: nn.Module, value: Any) -> Any:
    """One number for all axes of a convolution, which keeps tuples however it was given."""
    several = isinstance(layer, nn.modules.conv._ConvNd) and isinstance(value, tuple)
    plain = several and all(type(v) is int and v == value[0] for v in value)
    return value[0] if plain else value


def _makes_the_same(source: str, entry_point: str, text: str) -> bool:
    """Whether both constructors make the same state from the same random numbers."""
    program = execute(source, entry_point)
    names: dict[str, Any] = {"torch": torch, "nn": nn}
    exec(compile(text, "<candidate>", "exec", dont_inherit=True), names)  # noqa: S102 - in the sandbox
    positional, keyword = program.arguments()
    states: list[Mapping[str, torch.Tensor]] = []
    for build in (program.namespace[entry_point], names[NEW]):
        torch.manual_seed(0)
        states.append(build(*positional, **keyword).state_dict())
    reference, made = states
    same = list(reference) == list(made)
    return same and all(torch.equal(reference[name], made[name]) for name in reference)
