"""Definitions that a program imports by their dotted names: ``getattr(importlib.import_module(module), name)``.

``{"target": "net.losses.Perceptual", "params": {...}}`` is what configurations make instances of.  A task has no
modules to import, so it holds the definitions that are said, and takes them by name out of a record of these.  Those of
its own file a function takes out of ``globals()``, where they are in a task, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from sources.cut.pieces import goes_by, listed, taken_from
from sources.text.desugar import NAMED
from sources.text.registries import words
from sources.text.remembered import remembered
from sources.text.scope import nodes
from sources.text.symbols import Package
from sources.text.targets import Here, Inner, Target

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
    file = package.file(path) if _asks_globals(view) else None
    known = {*said, *words([view])} if file else set()
    found = {n: package.lookup(path, n) for n, ways in (file.bindings if file else {}).items()
             if not known.isdisjoint((n.lower(), _OF_DIMENSIONS.sub("", n.lower())))
             and not any(map(_is_made, ways))}  # fmt: skip
    return dict([(n, target) for n, target in found.items() if isinstance(target, Here)][:MAX_NAMED])


def taken_out(package: Package, name: str, module: Target, view: ast.AST, said: Iterable[str]) -> dict[str, Here]:
    """What a definition takes out of a ``module`` of the package, by ``name``, as words that are ``said`` tell.

    ``getattr(name, word)`` takes what is called so; of ``vars(name)`` counts what goes by a word: ``MeanNorm`` by mean.
    """
    if name == NAMED:
        return named(package, said)
    if not isinstance(module, Inner) or name not in taken_from(view) | listed(view):
        return {}
    known, every, found = {*said, *words([view])}, package.names(module.file), list[str]()
    if name in taken_from(view):
        found += (n for n in every if n.lower() in known)
    if name in listed(view):
        found += (n for n in every if not known.isdisjoint(goes_by(n)))
    members = ((n, package.member(module.file, n)) for n in dict.fromkeys(found))
    return {f"{name}.{n}": target for n, target in members if isinstance(target, Here)}


def looks_up(view: ast.AST) -> bool:
    """Whether what a definition needs depends on words that others say."""
    return bool(taken_from(view) or listed(view)) or _asks_globals(view) or _names_all(view)


@remembered
def _names_all(view: ast.AST) -> bool:
    return any(isinstance(n, ast.Name) and n.id == NAMED for n in nodes(view))


@remembered
def _asks_globals(view: ast.AST) -> bool:
    calls = (n for n in nodes(view) if isinstance(n, ast.Call) and not n.args)
    return any(getattr(call.func, "id", "") == "globals" for call in calls)


def _is_made(binding: object) -> bool:
    """Whether a name is given what a call answers: a script's ``model = build()``, which none looks up by name."""
    return isinstance(getattr(binding, "value", None), ast.Call)
