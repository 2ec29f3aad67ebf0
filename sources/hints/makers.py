"""Functions that make networks of what they are given, ``build(args)``, said as classes: a search constructs these."""

from __future__ import annotations

import ast
import re

from sources.text.scope import nodes

MAX_NEEDED = 6  # arguments
PREFIX, MADE = "MadeBy", "made_here"
# Functions that go on with what they make: to data, or for hours.
_BEYOND = re.compile(r"_|(train|test|eval|val|run|main|fit|infer|predict|sample|plot|show|load|save|export|parse|log)")


def makes(function: ast.FunctionDef) -> bool:
    """Whether a function needs a few arguments, and answers with something."""
    given = function.args
    needed = len(given.posonlyargs) + len(given.args) - len(given.defaults) + given.kw_defaults.count(None)
    if not 0 < needed <= MAX_NEEDED or _BEYOND.match(function.name) or function.decorator_list:
        return False
    return any(isinstance(n, ast.Return) and n.value is not None for n in nodes(function))


def as_class(source: str, name: str) -> tuple[str, str]:
    """A text with a class that holds what a function of it makes, and the class's name; "" where it has none such."""
    tree = ast.parse(source)
    function = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name), None)
    if function is None:
        return source, ""
    given = function.args
    required = [*given.posonlyargs, *given.args][: len(given.posonlyargs) + len(given.args) - len(given.defaults)]
    places = [a.arg for a in required]
    named = [a.arg for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is None]
    call = ", ".join([*places, *(f"{n}={n}" for n in named)])
    made = PREFIX + "".join(word[:1].upper() + word[1:] for word in name.split("_"))
    taken = ", ".join([*places, *named])
    text = (
        f"\n\nimport torch\n\n\nclass {made}(torch.nn.Module):\n    def __init__(self, {taken}):\n"
        f"        super().__init__()\n        self.{MADE} = {name}({call})\n"
    )
    return source + text, made
