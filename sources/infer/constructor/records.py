"""Lists of a program's own records: columns of a table, features, blocks of a network.

``isinstance(column, SparseColumn)`` tells which records a program knows; what is to be a list may hold some of these.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

from torch import nn

from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.infer.constructor.configs import CONFIG
from sources.infer.constructor.trouble import Trouble

MAX_KINDS = 4  # of records in one list
WANTS = re.compile(
    r"not iterable|has no attribute|has no len|not subscriptable|unsupported operand|can only concatenate"
)
NAMES = re.compile(r"(^|_)(name|key|id|alias)$")
_READ = re.compile(r"\b(\w+)(?:\[[^\[\]]*\])?\[['\"](\w+)['\"]\]")  # of what, or of whose item, which key


def lists(tree: ast.Module, namespace: Mapping[str, Any], module: str) -> list[str]:
    """Expressions of lists of the records that a program of this ``module`` asks for: one of each kind, two of one."""
    made = {n: text for n in _asked_for(tree) if (text := _instance(n, namespace, module, 0))}
    known = dict(list(made.items())[:MAX_KINDS])
    several = [f"[{', '.join(known.values())}]"] if len(known) > 1 else []
    alike = [f"[{text}, {_instance(n, namespace, module, 1)}]" for n, text in known.items()]
    return [*alike[:1], *several, *alike[1:]]


def namesakes(name: str, arguments: Iterable[str]) -> list[str]:
    """The arguments that end with the same word: ``user_features`` and ``item_features`` are lists of the same kind."""
    return [other for other in arguments if _last(other) == _last(name)]


def of_dictionaries(text: str, trouble: Trouble, program: str) -> list[str]:
    """A list of dictionaries in place of one of numbers, with all keys that the ``program`` reads of what fails.

    ``levels[i]["width"]``, or ``level["width"]`` in a loop, tells of one key; what it is read of, of the others.
    """
    number = re.search(r"'(int|float)' object is not subscriptable", trouble.message)
    read = _READ.search(trouble.line) if number and re.fullmatch(r"\[[\d., ]+\]", text) else None
    if not read:
        return []
    keys = dict.fromkeys(found[2] for found in _READ.finditer(program) if found[1] == read[1])
    item = ", ".join(f"{key!r}: {next(v for v in values(key, '', Uses()) if v != CONFIG)}" for key in keys)
    return [f"[{', '.join([f'{{{item}}}'] * (text.count(',') + 1))}]"]


def _last(name: str) -> str:
    return name.lower().split("_")[-1].removesuffix("s")


def _asked_for(tree: ast.Module) -> list[str]:
    """Names of the classes that values are tested for."""
    tests = (n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == "isinstance")
    kinds = (k for t in tests if len(t.args) == 2 for k in getattr(t.args[1], "elts", [t.args[1]]))
    return list(dict.fromkeys(k.id for k in kinds if isinstance(k, ast.Name)))


def _instance(name: str, namespace: Mapping[str, Any], module: str, number: int, depth: int = 0) -> str:
    """A call of a class of the program that is no layer, with guesses for what it requires; "" where there is none."""
    kind = namespace.get(name)
    if not isinstance(kind, type) or kind.__module__ != module or issubclass(kind, nn.Module | BaseException):
        return ""
    try:
        every = list(inspect.signature(kind).parameters.values())
    except (TypeError, ValueError):
        return ""
    plain = (p for p in every if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.default is p.empty)
    given = []
    for p in plain:
        inner = next((n for n in namespace if n.lower() == p.name.lower() and isinstance(namespace[n], type)), "")
        text = _instance(inner, namespace, module, number, depth + 1) if inner and depth < 2 else ""
        if not text and NAMES.search(p.name):
            text = repr(f"{name.lower()}_{number}")  # records are told apart by it
        given.append(f"{p.name}={text or values(p.name, '', Uses())[0]}")
    text = f"{name}({', '.join(given)})"
    try:
        eval(text, dict(namespace))  # noqa: S307 - our own expression, in the sandbox
    except Exception:  # noqa: BLE001 - it is made in another way
        return ""
    return text
