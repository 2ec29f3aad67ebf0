"""What constructors call the sizes that ``get_init_inputs`` gives them: a name tells a width from a count of heads."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from kdata.task import INIT_INPUTS, sizes


def parameter_names(source: str, entry_point: str) -> dict[str, frozenset[str]]:
    """For each size of a task that the constructors of its classes are given: what these call it.

    Args:
        source: the task's text; what ``get_init_inputs`` returns is handed to ``entry_point``, what it hands to other
            classes of the text in calls to these.
        entry_point: the name of its module.
    """
    tree = ast.parse(source)
    classes = {s.name: s for s in tree.body if isinstance(s, ast.ClassDef)}
    giving = next((s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == INIT_INPUTS), None)
    if giving is None:
        return {}
    literals = {(s.line, s.column): s.name for s in sizes(source)}
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, value in _given(giving, classes, entry_point):
        size = value.id if isinstance(value, ast.Name) else literals.get((value.lineno, value.col_offset), "")
        found[size].add(name)
    return {size: frozenset(names) for size, names in found.items() if size}


def _given(
    giving: ast.FunctionDef, classes: dict[str, ast.ClassDef], entry_point: str
) -> Iterator[tuple[str, ast.expr]]:
    """Parameters of constructors, and what they are given."""
    for node in ast.walk(giving):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.List):
            elements = node.value.elts
            if elements and isinstance(elements[0], ast.List):  # arguments, and those by keyword
                elements = elements[0].elts
            yield from zip(_parameters(classes.get(entry_point)), elements, strict=False)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in classes:
            yield from zip(_parameters(classes[node.func.id]), node.args, strict=False)
            yield from ((k.arg, k.value) for k in node.keywords if k.arg)


def _parameters(made: ast.ClassDef | None) -> list[str]:
    inits = [s for s in made.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"] if made else []
    return [a.arg for a in inits[0].args.args[1:]] if inits else []
