"""Arguments that are calls themselves, ``Layer(Attention(64), 64)``: other values inside of them.

A package's own calls tell most of what a constructor is given; what they leave open is guessed, and a guess inside of
an argument may be what fails.
"""

from __future__ import annotations

import ast
import copy
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.infer.constructor.configs import CONFIG
from sources.infer.constructor.records import NAMES
from sources.infer.constructor.trouble import Trouble, kinds, wanted
from sources.infer.forward.variants import Arguments

MAX_OPTIONS = 3  # of one parameter
MAX_CHANGES = 12  # of one argument
_BEYOND = re.compile(r"\bindex (\d+) is out of range")
_IN_A_ROW = re.compile(r"(?<=\bfor _) in range\(\d+\)")  # layers, see ``sources.infer.constructor.reading``
_LACKS = re.compile(r"(\w+)\.__init__\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.*)")


def changed(text: str, namespace: Mapping[str, Any], trouble: Trouble, defaults: Mapping[str, str]) -> Iterator[str]:
    """The expression with another value for one parameter of a class that it calls, which is named where it failed."""
    if "(" not in text or text.startswith("<") or "lambda" in text:
        return
    if beyond := _BEYOND.search(trouble.message):  # what follows is beyond it, too, perhaps
        yield from [t for t in [_IN_A_ROW.sub(f" in range({2 * int(beyond[1]) + 2})", text)] if t != text]
    found = dict.fromkeys(_changed(ast.parse(text, mode="eval"), namespace, trouble, defaults))
    yield from [t for t in found if t != text][:MAX_CHANGES]


def completed(arguments: Arguments, message: str, defaults: Mapping[str, str]) -> Arguments:
    """The arguments with all that calls of a class in them lack, as an error says: of a type hint's class, say.

    What records are called tells them apart.
    """
    match = _LACKS.search(message)
    words = re.findall(r"'(\w+)'", match[2]) if match else []
    found = dict(arguments)
    for name, text in arguments.items():
        if not match or f"{match[1]}(" not in text:
            continue
        tree = ast.parse(text, mode="eval")
        calls = (n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == match[1])
        for number, call in enumerate(calls):
            for word in words:
                plain = next(v for v in values(word, "", Uses()) if v != CONFIG)
                value = repr(f"{word}_{number}") if NAMES.search(word) else defaults.get(word, plain)
                _give(call, len(call.args), word, ast.parse(value, mode="eval").body)
        found[name] = ast.unparse(tree)
    return found


def _changed(
    tree: ast.Expression, namespace: Mapping[str, Any], trouble: Trouble, defaults: Mapping[str, str]
) -> Iterator[str]:
    for at, node in enumerate(ast.walk(tree)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        for i, p in enumerate(_parameters(namespace.get(node.func.id))):
            old = _argument(node, i, p.name)
            if isinstance(old, ast.Call | ast.List | ast.ListComp) or f" {p.name} " not in _words(trouble):
                continue
            if old is None and p.default is not p.empty and type(p.default) in (int, float, bool):
                continue
            misfits = old is not None and bool(trouble.culprits & kinds(ast.unparse(old)))
            asked = wanted(trouble.message, trouble.line) if misfits else []
            known = [defaults[p.name]] if p.name in defaults else []
            options = [v for v in [*known, *asked, *values(p.name, "", Uses())] if v != CONFIG]
            for option in options[:MAX_OPTIONS]:
                other = copy.deepcopy(tree)
                call = next(n for j, n in enumerate(ast.walk(other)) if j == at)
                assert isinstance(call, ast.Call)
                _give(call, i, p.name, ast.parse(option, mode="eval").body)
                yield ast.unparse(other)


def _parameters(kind: Any) -> list[inspect.Parameter]:
    try:
        every = list(inspect.signature(kind).parameters.values()) if isinstance(kind, type) else []
    except (TypeError, ValueError):
        return []
    return [p for p in every if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def _words(trouble: Trouble) -> str:
    return f" {' '.join(''.join(c if c.isalnum() or c == '_' else ' ' for c in trouble.near).split())} "


def _argument(node: ast.Call, i: int, name: str) -> ast.expr | None:
    if i < len(node.args):
        return node.args[i]
    return next((k.value for k in node.keywords if k.arg == name), None)


def _give(node: ast.Call, i: int, name: str, value: ast.expr) -> None:
    if i < len(node.args):
        node.args[i] = value
    else:
        node.keywords = [*(k for k in node.keywords if k.arg != name), ast.keyword(name, value)]
