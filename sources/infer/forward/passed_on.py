"""What methods of a module say of the inputs that forward hands on to them, under their own names for these."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Iterator

from torch import nn

from sources.hints.layouts import Shape, told


def of_methods(kind: type[nn.Module], name: str, text: str) -> list[Shape]:
    """Shapes of a parameter of forward, whose ``text`` is given, that methods tell which it is handed on to."""
    found: list[Shape] = []
    for method, at in _calls(text).get(name, ()):
        function = inspect.getattr_static(kind, method, None)
        taken = list(inspect.signature(function).parameters) if inspect.isfunction(function) else []
        own = at if isinstance(at, str) else taken[at + 1] if at + 1 < len(taken) else ""
        if inspect.isfunction(function) and own in taken:
            found += told(own, inspect.getdoc(function) or "", _source(function))
    return found


@functools.lru_cache(maxsize=4)  # of one forward at a time
def _calls(text: str) -> dict[str, list[tuple[str, int | str]]]:
    """Methods of ``self`` that are called with a plain name, and where in the call it stands, by that name."""
    found: dict[str, list[tuple[str, int | str]]] = {}
    try:
        tree = ast.parse(textwrap.dedent(text))
    except SyntaxError:
        return found
    for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
        if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "self":
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
