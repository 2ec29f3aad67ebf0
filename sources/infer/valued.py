"""Arguments that a script computes, said as the values that they have. Runs inside the sandbox.

``Net(widths)`` below ``widths = [int(w) for w in args.widths.split(",")]`` is ``Net([3, 3, 3])``, and needs no script.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sources.infer.search import Solution
from sources.text.rewrite import Edits, Text
from sources.text.scope import reads

LONGEST = 80  # characters of a value


def valued(
    cut: dict[str, Any], namespace: dict[str, Any], outcome: Solution, load: Callable[[str], dict[str, Any]]
) -> tuple[dict[str, Any], dict[str, Any], Solution]:
    """The cut and arguments with plain values in place of variables; ``load`` executes a text of the cut."""
    tree = ast.parse(cut["source"])
    assigned = [(s.targets[0], s) for s in tree.body if isinstance(s, ast.Assign) and len(s.targets) == 1]
    variables = {target.id: statement for target, statement in assigned if isinstance(target, ast.Name)}
    texts = {name: text for name, text in outcome.arguments.items() if _names(text) & variables.keys()}
    values = dict(_values(texts, load(cut["source"]))) if texts else {}
    if not values:
        return cut, namespace, outcome
    arguments = outcome.arguments | values
    wanted = {cut["name"]}.union(*map(_names, arguments.values()))
    named = set[str]().union(*(_names(texts[name]) for name in values))
    source = _without(cut["source"], tree, variables, named - wanted)
    return cut | {"source": source}, load(source), replace(outcome, arguments=arguments)


def _values(texts: Mapping[str, str], namespace: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What arguments are, where that is plain and short."""
    for name, text in texts.items():
        try:
            said = repr(eval(text, dict(namespace)))  # noqa: S307 - in the sandbox, and run before
            ast.literal_eval(said)
        except Exception:  # noqa: BLE001 - whatever it raises, or where it is no plain value
            said = ""
        if 0 < len(said) <= LONGEST:
            yield name, said


def _names(text: str) -> set[str]:
    """The names in an expression; none in what stands for one."""
    return set() if text.startswith("<") else {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}


def _without(source: str, tree: ast.Module, variables: Mapping[str, ast.Assign], unwanted: Iterable[str]) -> str:
    """The text without the variables that are ``unwanted``, nor those that only these are made of."""
    left, edits = list(tree.body), Edits(Text.of(source))
    chosen = [*unwanted]
    for name in chosen:
        statement = variables.get(name)
        others = (n.id for s in left if s is not statement for n in reads(s).names)
        if statement in left and name not in others:
            left.remove(statement)
            edits.remove(statement)
            chosen += sorted(_names(ast.unparse(statement.value)) - {*chosen})
    return edits.whole()
