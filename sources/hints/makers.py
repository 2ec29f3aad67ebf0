"""Functions that make networks of what they are given, ``build(args)``, said as classes: a search constructs these."""

from __future__ import annotations

import ast
import re

from sources.hints.spelling import needed
from sources.text.scope import nodes

MAX_NEEDED = 6  # arguments
MADE = "made_here"  # what a class calls what its function makes
# Functions that go on with what they make: to data, or for hours.
_BEYOND = re.compile(r"_|(train|test|eval|val|run|main|fit|infer|predict|sample|plot|show|load|save|export|parse|log)")


def kind_of(statement: ast.FunctionDef | ast.ClassDef) -> str:
    """What a definition is to what it uses.

    A "class", a function that is "ready" to run, a "maker" that needs arguments and answers with what it makes, or
    another "function".
    """
    if isinstance(statement, ast.ClassDef):
        return "class"
    if not any(needed(statement.args)):
        return "ready"
    return "maker" if makes(statement) else "function"


def makes(function: ast.FunctionDef) -> bool:
    """Whether a function needs a few arguments, and answers with something."""
    places, named = needed(function.args)
    if not 0 < len(places) + len(named) <= MAX_NEEDED or _BEYOND.match(function.name) or function.decorator_list:
        return False
    return any(isinstance(n, ast.Return) and n.value is not None for n in nodes(function))


def as_class(source: str, name: str) -> tuple[str, str]:
    """A text with a class that holds what a function of it makes, and the class's name; "" where it has none such."""
    tree = ast.parse(source)
    function = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name), None)
    if function is None:
        return source, ""
    places, named = ([a.arg for a in given] for given in needed(function.args))
    call = ", ".join([*places, *(f"{n}={n}" for n in named)])
    made = "MadeBy" + "".join(word[:1].upper() + word[1:] for word in name.split("_"))
    taken = ", ".join([*places, *named])
    text = (
        f"\n\nimport torch\n\n\nclass {made}(torch.nn.Module):\n    def __init__(self, {taken}):\n"
        f"        super().__init__()\n        self.{MADE} = {name}({call})\n"
    )
    return source + text, made
