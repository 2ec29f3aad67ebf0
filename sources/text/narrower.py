"""Networks whose own text says how wide they are, and wider than a task may be: with half of these widths."""

from __future__ import annotations

import ast

from sources.text.rewrite import Edits, Text
from sources.text.scope import nodes

NOTE = "its layers have half of the widths that its text says, or less: it has too many parameters"
LEAST, UNIT = 64, 16  # of a width: others are windows, colours, classes


def narrower(source: str) -> str:
    """The text with half of each number in it that may be a width; the same text where there is none.

    All of them at once: what is joined, viewed and taken apart goes on fitting.
    """
    edits = Edits(Text.of(source))
    for node in nodes(ast.parse(source)):
        width = node.value if isinstance(node, ast.Constant) and type(node.value) is int else 0
        if isinstance(node, ast.Constant) and width >= LEAST and not width % UNIT:
            start, end = edits.text.start(node), edits.text.end(node)
            if edits.text.data[start:end] == str(width).encode():  # else it stands in an f-string
                edits.replace(start, end, str(width // 2))
    return edits.whole()
