"""The graph that a task makes of its inputs: the class, and how it is made of drawn values and in a program's text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

NAME, KIND = "NeighbourGraph", "graph"
NODES, EDGES = "ndata", "edata"
# The same that stands for DGL's in programs that make one.
CLASS = (Path(__file__).parents[1] / "replacements" / "dgl" / "heterograph.py").read_text().partition('"""\n\n')[2]
_made: dict[str, Any] = {"__name__": __name__}


def make(keys: Sequence[str], items: Sequence[Any]) -> Any:
    """The graph of drawn items: neighbours, and features that are named by their side and field, ``ndata.h``."""
    if items[0] is None:  # of an input that may be left out
        return None
    if NAME not in _made:
        exec(CLASS, _made)  # noqa: S102 - our own text: it is laid into tasks, too
    fields: dict[str, dict[str, Any]] = {NODES: {}, EDGES: {}}
    for name, item in zip(keys[1:], items[1:], strict=True):
        side, _, field = name.partition(".")
        fields[side][field] = item
    graph = _made[NAME](items[0], fields[NODES], fields[EDGES])
    graph.given = items  # what it was made of: a module lays more into it
    return graph


def given(value: Any) -> Sequence[Any]:
    """What a drawn graph was made of, in the order of its spec; nothing for other values."""
    return value.given if type(value) is _made.get(NAME) else ()


def expression(keys: Sequence[str], parts: Sequence[str]) -> str:
    """The call that makes the graph, of the expressions of its items."""
    fields: dict[str, list[str]] = {NODES: [], EDGES: []}
    for name, part in zip(keys[1:], parts[1:], strict=True):
        side, _, field = name.partition(".")
        fields[side].append(f"{field!r}: {part}")
    given = [f"{side}={{{', '.join(texts)}}}" for side, texts in fields.items() if texts]
    return f"{NAME}({', '.join([parts[0], *given])})"
