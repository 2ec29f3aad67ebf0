"""Definitions that a program imports by their dotted names: ``getattr(importlib.import_module(module), name)``.

``{"target": "net.losses.Perceptual", "params": {...}}`` is what configurations make instances of.  A task has no
modules to import, so it holds the definitions that are said, and takes them by name out of a record of these.  Those of
its own file a function takes out of ``globals()``, where they are in a task, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from sources.text.desugar import NAMED
from sources.text.registries import words
from sources.text.scope import nodes
from sources.text.symbols import Package
from sources.text.targets import Here

MAX_NAMED = 12  # definitions that one task takes by name
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")
_OF_DIMENSIONS = re.compile(r"[1-3]d$")  # a name of a layer


def named(package: Package, said: Iterable[str]) -> dict[str, Here]:
    """The definitions of a package whose dotted names, in lower case, are among the words that are ``said``."""
    wanted = sorted(word for word in said if _DOTTED.fullmatch(word))
    found: dict[str, Here] = {}
    for path in package.looked_through() if wanted else ():
        dotted = f".{path.removesuffix('.py').removesuffix('/__init__').replace('/', '.').lower()}"
        names = {n for m, _, n in (w.rpartition(".") for w in wanted) if dotted.endswith(f".{m}")}
        file = package.file(path) if names else None
        for name in file.bindings if file else ():
            if name.lower() in names and isinstance(target := package.member(path, name), Here):
                found.setdefault(f"{NAMED}.{name}", target)
    return dict(list(found.items())[:MAX_NAMED])


def own(package: Package, path: str, view: ast.AST, said: Iterable[str]) -> dict[str, Here]:
    """What a definition may look up in ``globals()``: what its file knows by one of the words that are ``said``.

    Or by such a word and how many dimensions it is for: ``"Conv" + "%dd" % 2``.
    """
    calls = (n for n in nodes(view) if isinstance(n, ast.Call) and not n.args)
    file = package.file(path) if any(getattr(c.func, "id", "") == "globals" for c in calls) else None
    known = {*said, *words([view])} if file else set()
    found = {n: package.lookup(path, n) for n, ways in (file.bindings if file else {}).items()
             if not known.isdisjoint((n.lower(), _OF_DIMENSIONS.sub("", n.lower())))
             and not any(map(_is_made, ways))}  # fmt: skip
    return dict([(n, target) for n, target in found.items() if isinstance(target, Here)][:MAX_NAMED])


def _is_made(binding: object) -> bool:
    """Whether a name is given what a call answers: a script's ``model = build()``, which none looks up by name."""
    return isinstance(getattr(binding, "value", None), ast.Call)
