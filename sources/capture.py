"""True arguments and inputs of a class, seen while something of its package that uses it runs.

Two hooks on nn.Module, installed in a fork that ends soon: one keeps what every module was constructed with, one what
the wanted class is called with.  The first call of it that comes to an end is what was looked for.
"""

from __future__ import annotations

import functools
import inspect
import types
from argparse import Namespace
from typing import Any

import torch
from torch import nn

from sources.inputs import Many, Plain, Spec, Specs, Tensor
from sources.search import Solution, has_tensor
from sources.variants import Arguments

MAX_DEPTH = 6
MADE_WITH = "_kdata_made_with"


class CapturedError(BaseException):
    """Raised when the wanted call has been seen: no ``except Exception`` of a module's catches it."""

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self.solution = solution


class UnspeakableError(ValueError):
    """A value that a task cannot spell."""


def install(wanted: type[nn.Module], namespace: dict[str, Any]) -> None:
    """Watch for one call of a class; ``namespace`` is what its arguments may name."""
    call = nn.Module.__call__

    def new(kind: type, *arguments: Any, **named: Any) -> Any:
        made: Any = object.__new__(kind)
        object.__setattr__(made, MADE_WITH, (arguments, named))
        return made

    def watched(self: nn.Module, *given: Any, **named: Any) -> Any:
        if type(self) is not wanted:
            return call(self, *given, **named)
        try:
            solution = Solution(arguments_of(self, namespace), specs_of(self, given, named))
        except (UnspeakableError, TypeError, ValueError):
            return call(self, *given, **named)
        result = call(self, *given, **named)
        if has_tensor(result):
            nn.Module.__call__ = call  # type: ignore[method-assign]
            raise CapturedError(solution)
        return result

    nn.Module.__new__ = staticmethod(new)  # type: ignore[assignment, method-assign]
    nn.Module.__call__ = watched  # type: ignore[method-assign]


def arguments_of(module: nn.Module, namespace: dict[str, Any]) -> Arguments:
    """What a module was constructed with, by parameter.

    Raises:
        UnspeakableError: something of it cannot be written down.
    """
    given, named = module.__dict__.get(MADE_WITH, ((), {}))
    bound = inspect.signature(type(module)).bind(*given, **named)
    found: Arguments = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            found |= {k: spelled(v, namespace) for k, v in value.items()}
        elif kind is inspect.Parameter.VAR_POSITIONAL:
            raise UnspeakableError("*args")
        else:
            found[name] = spelled(value, namespace)
    return found


def specs_of(module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> Specs:
    """How to draw inputs like these.

    Raises:
        UnspeakableError: some are neither tensors nor plain values, or can only be given by name.
    """
    if not named:
        return tuple(spec_of(value) for value in given)
    bound = inspect.signature(module.forward).bind(*given, **named)
    if bound.kwargs:
        raise UnspeakableError("keyword-only")
    bound.apply_defaults()
    last = len(bound.args)
    while last > len(given) and list(bound.signature.parameters)[last - 1] not in named:
        last -= 1
    return tuple(spec_of(value) for value in bound.args[:last])


def spec_of(value: Any, depth: int = 0) -> Spec:
    """How to draw a value like this one."""
    if isinstance(value, torch.Tensor):
        if value.is_complex() or value.is_sparse:
            raise UnspeakableError(str(value.dtype))
        if value.dtype == torch.bool:
            return Tensor(tuple(value.shape), "bool")
        if value.is_floating_point():
            return Tensor(tuple(value.shape))
        return Tensor(tuple(value.shape), "int", int(value.max()) + 1 if value.numel() else 1)
    if value is None or isinstance(value, bool | int | float | str):
        return Plain(value)
    if isinstance(value, torch.Size):
        return Plain(tuple(value))
    if type(value) in (list, tuple) and depth < MAX_DEPTH:
        return Many(tuple(spec_of(v, depth + 1) for v in value), "list" if isinstance(value, list) else "tuple")
    raise UnspeakableError(type(value).__name__)


def spelled(value: Any, namespace: dict[str, Any], depth: int = 0) -> str:
    """An expression whose value, in a task's namespace, is like this one."""

    def inner(v: Any) -> str:
        return spelled(v, namespace, depth + 1)

    if depth > MAX_DEPTH:
        raise UnspeakableError("too deep")
    if value is None or isinstance(value, bool | int | str) or isinstance(value, float) and abs(value) < 1e30:
        return repr(value)
    if isinstance(value, torch.dtype):
        return str(value)
    if isinstance(value, torch.device):
        return repr(str(value))
    if isinstance(value, nn.Module):
        return _module(value, namespace, depth)
    if isinstance(value, functools.partial):
        named = [f"{k}={inner(v)}" for k, v in value.keywords.items()]
        return f"functools.partial({', '.join([inner(value.func), *map(inner, value.args), *named])})"
    if isinstance(value, type) or callable(value) and hasattr(value, "__name__"):
        return _named(value, namespace)
    if type(value) in (list, tuple, torch.Size):
        text = ", ".join(map(inner, value))
        return f"[{text}]" if type(value) is list else f"({text}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{inner(k)}: {inner(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Namespace | types.SimpleNamespace):
        return f"SimpleNamespace({', '.join(f'{k}={inner(v)}' for k, v in vars(value).items())})"
    raise UnspeakableError(type(value).__name__)


def _module(value: nn.Module, namespace: dict[str, Any], depth: int) -> str:
    name = _named(type(value), namespace)
    if type(value) in (nn.Sequential, nn.ModuleList):
        parts = ", ".join(spelled(m, namespace, depth + 1) for m in value.children())
        return f"{name}({parts})" if type(value) is nn.Sequential else f"{name}([{parts}])"
    given, named = value.__dict__.get(MADE_WITH, ((), {}))
    every = [spelled(v, namespace, depth + 1) for v in given]
    every += [f"{k}={spelled(v, namespace, depth + 1)}" for k, v in named.items()]
    return f"{name}({', '.join(every)})"


def _named(value: Any, namespace: dict[str, Any]) -> str:
    name = getattr(value, "__name__", "")
    if namespace.get(name) is value:
        return str(name)
    for prefix, holder in (("nn", nn), ("F", nn.functional), ("torch", torch)):
        if getattr(holder, name, None) is value:
            return f"{prefix}.{name}"
    raise UnspeakableError(name)
