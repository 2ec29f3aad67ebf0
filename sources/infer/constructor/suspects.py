"""Which constructor arguments an error, or a demand of the program, is about."""

from __future__ import annotations

import ast
import re
import traceback
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from sources.hints.demands import Demand
from sources.infer.constructor.configs import CONFIG
from sources.infer.constructor.trouble import Trouble, kinds
from sources.infer.forward.variants import Arguments
from sources.text.remembered import parsed

MAX_HAVING = 3  # classes that are tried as they have an attribute


def ranked(arguments: Arguments, trouble: Trouble, attributes: Mapping[str, set[str]]) -> dict[str, int]:
    """How far each argument is from a trouble: 0 where it is named, or held, in the failing line."""
    near, far, culprits = trouble.near, trouble.far, trouble.culprits
    texts, found = list(arguments.values()), dict[str, int]()
    for name, text in arguments.items():
        said = _plain(name) in trouble.message or _says(trouble.message, text)
        distance = _distance(word(name, attributes), near, far) - said
        distance += 0 if not culprits or culprits & kinds(text) else 2
        found[name] = min(distance, 0) if text in trouble.held and texts.count(text) == 1 else distance
    classes = {c for c in culprits if c[:1].isupper()}
    holders = [name for name, text in arguments.items() if classes & kinds(text)]
    if (
        not classes and "not callable" in trouble.message
    ):  # numbers that a list has for layers; others are seldom called
        holders = [name for name, text in arguments.items() if text[:1] == "[" and culprits & kinds(text)]
    if len(holders) == 1:  # what a loop, or another class, calls by a name of its own
        found[holders[0]] = min(found[holders[0]], 0)
    return found


def meant(demand: Demand, arguments: Arguments, names: list[str]) -> list[str]:
    """The arguments that a demand is about: of its name, ``self._width`` being one's, else with its value.

    ``owner.key`` is asked of each configuration that is called like its owner.
    """
    owner, _, key = demand.name.rpartition(".")
    if owner:
        return [f"{n}.{key}" for n, text in arguments.items() if text == CONFIG and n.split(".")[-1] == owner]
    named = [n for n in [*arguments, *names] if n.split(".")[-1] in (demand.name, demand.name.lstrip("_"))]
    same = [n for n, text in arguments.items() if n not in named and _is(text, demand.value)]
    return list(dict.fromkeys([*named, *same]))


def holding(text: str, value: object) -> list[int]:
    """How many items a sequence of plain values may have that holds this value, none where it is no such.

    A word whose first letter is looked up is to be a list of words.  Of a shape, ``(3, 64, 64)``, the sides only may be
    meant.
    """
    if isinstance(value, str) and len(value) == 1 and len(text) > 3 and text[:1] in "'\"" and text[1] == value:
        return [1]
    if text[:1] not in "[(" or value is None or isinstance(value, bool) or not isinstance(value, int | float | str):
        return []
    try:
        items = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return []
    if not isinstance(items, list | tuple) or value not in items:
        return []
    shape = len(items) == 3 and items[0] == value != items[1] == items[2]
    return [2, 3] if shape else [len(items)]


def _is(text: str, value: object) -> bool:
    """Whether an expression is a plain one of this value, and the value tells one argument from another."""
    if value is None or isinstance(value, bool) or not isinstance(value, int | float | str | list | tuple):
        return False
    return text == repr(value)


def word(name: str, attributes: Mapping[str, set[str]]) -> re.Pattern[str]:
    """What names a parameter in a line: itself, or what is made from it."""
    name = name.split(".")[-1]
    made = "|".join(sorted(map(re.escape, attributes.get(name, ()))))
    return re.compile(rf"(?<![\w.])(?:{made})\b" if made else rf"\b{re.escape(name)}\b")


def _plain(name: str) -> str:
    """How a message may say a parameter's name; nothing where that is too short to tell."""
    name = name.split(".")[-1]
    return name if len(name) > 4 else "\0"


def _says(message: str, text: str) -> bool:
    """Whether a message says the word that an argument is."""
    return text[:1] in "'\"" and len(text) > 5 and re.search(rf"\b{re.escape(text[1:-1])}\b", message) is not None


def _distance(word: re.Pattern[str], near: str, far: str) -> int:
    return 0 if word.search(near) else 1 if word.search(far) else 2


def made_of(kind: type, text: str, inside: bool = False) -> dict[str, set[str]]:
    """For the names of parameters, what is made from them: attributes of self, and variables ``inside`` of it."""
    return _made_of(frozenset(c.__name__ for c in kind.__mro__), text, inside)


@lru_cache(maxsize=4)  # of one class at a time
def _made_of(names: frozenset[str], text: str, inside: bool) -> dict[str, set[str]]:
    origins: dict[str, set[str]] = {}  # local name -> names that it is made from
    found: dict[str, set[str]] = {}
    functions = (f for c in parsed(text).body if isinstance(c, ast.ClassDef) and c.name in names for f in c.body
                 if isinstance(f, ast.FunctionDef) and f.name == "__init__")  # fmt: skip
    for statement in (s for f in functions for s in ast.walk(f) if isinstance(s, ast.Assign | ast.AnnAssign)):
        read = {n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(statement.value or ast.Pass())
                if isinstance(n, ast.Name | ast.Attribute)}  # fmt: skip
        read |= {o for n in read for o in origins.get(n, ())}
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            if isinstance(target, ast.Name):
                origins.setdefault(target.id, set()).update(read)
                for name in read if inside else ():
                    found.setdefault(name, set()).add(target.id)
            elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                for name in read:
                    found.setdefault(name, set()).add(f"self.{target.attr}")
    return found


def restored(names: Iterable[str], arguments: Arguments, trouble: Trouble) -> list[str]:
    """Of arguments that have defaults, the layers that are given more inputs than they take: defaults may take these.

    ``self.norm(x, label)`` is of the conditional norm that is the default, whatever a call of the package gives.
    """
    fewer = re.search(r"\b_*(\w+)\.forward\(\) takes \d+ positional arguments? but", trouble.message)
    return [n for n in names if fewer and any(fewer[1] in kind for kind in kinds(arguments[n]))]


def line_reached(error: Exception, file: str) -> int:
    """How many lines into the constructor an error came."""
    frames = (f for f in traceback.walk_tb(error.__traceback__) if f[0].f_code.co_filename == file)
    return next((line - f.f_code.co_firstlineno for f, line in frames if f.f_code.co_name == "__init__"), 0)


def having(kind: type, namespace: Mapping[str, Any], message: str) -> list[str]:
    """Other classes of a class's program that have the attribute that something lacks."""
    match, own = re.search(r"has no attribute '(\w+)'", message), kind.__module__
    found = ((n, v) for n, v in namespace.items() if isinstance(v, type) and v.__module__ == own)
    return [n for n, v in found if match and v is not kind and match[1] in vars(v)][:MAX_HAVING]
