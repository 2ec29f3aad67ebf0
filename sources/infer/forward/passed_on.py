"""What methods of a module say of the inputs that forward hands on to them, under their own names for these."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Iterator
from types import FunctionType

from torch import nn

from sources.hints.layouts import Shape, told

MAX_STEPS = 2  # from forward to a method
_TRANSPOSED = r"(?<![.\w])(?:({0})|{0} @ (\w+))\.(?:T\b|t\(\))"


def of_methods(kind: type[nn.Module], name: str, text: str) -> list[Shape]:
    """Shapes of a parameter of forward, whose ``text`` is given, that methods tell which it is handed on to."""
    found: list[Shape] = []
    for own, function in _handed(kind, name, text):
        found += told(own, inspect.getdoc(function) or "", _source(function))
    return found


def is_matrix(kind: type[nn.Module], name: str, text: str, steps: int = MAX_STEPS) -> bool:
    """Whether forward, whose ``text`` is given, or a method that it hands a parameter on to, transposes it whole.

    Or multiplies it with another parameter that it does so with: ``queries @ keys.T``.
    """
    header, _, body = text.partition(":\n")
    taken = re.findall(r"\w+", header)
    found = re.findall(_TRANSPOSED.format(re.escape(name)), body)
    if any(own or other in taken for own, other in found):
        return True
    handed = _handed(kind, name, text) if steps else ()
    return any(is_matrix(kind, own, _source(function), steps - 1) for own, function in handed)


def _handed(kind: type[nn.Module], name: str, text: str) -> Iterator[tuple[str, FunctionType]]:
    """The methods that a text of the module's hands a variable on to, and what they call it."""
    for method, at in _calls(text).get(name, ()):
        above = [k.__dict__[method] for k in kind.__mro__[1:] if method in k.__dict__][:1]
        function = above[0] if above and f"super().{method}(" in text else inspect.getattr_static(kind, method, None)
        taken = list(inspect.signature(function).parameters) if inspect.isfunction(function) else []
        own = at if isinstance(at, str) else taken[at + 1] if at + 1 < len(taken) else ""
        if inspect.isfunction(function) and own in taken:
            yield own, function


@functools.lru_cache(maxsize=4)  # of one forward at a time
def _calls(text: str) -> dict[str, list[tuple[str, int | str]]]:
    """Methods of ``self``, or of the base, that are called with a plain name, and where that stands, by the name."""
    found: dict[str, list[tuple[str, int | str]]] = {}
    try:
        tree = ast.parse(textwrap.dedent(text))
    except SyntaxError:
        return found
    for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
        if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) in ("self", "super()"):
            for name, at in _names(call):
                found.setdefault(name, []).append((call.func.attr, at))
    return found


def _names(call: ast.Call) -> Iterator[tuple[str, int | str]]:
    """Plain names among the arguments of a call, and where they stand."""
    for at, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            break
        if isinstance(argument, ast.Name):
            yield argument.id, at
    yield from ((k.value.id, k.arg) for k in call.keywords if k.arg and isinstance(k.value, ast.Name))


def _source(function: object) -> str:
    try:
        return inspect.getsource(function)  # type: ignore[arg-type]
    except (OSError, TypeError):
        return ""
