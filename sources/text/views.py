"""Views of what torch lays out otherwise by now: said as ``reshape``, which is a view wherever one will do."""

from __future__ import annotations

import ast
import re

from sources.text.rewrite import Edits, Text
from sources.text.scope import nodes

NOTE = "its views are reshapes, for torch lays some of what they are of out otherwise by now"
WANTED = re.compile(r"view size is not compatible with input tensor's size and stride")
_TYPE = re.compile(r"dtype\b|\btorch\.\w+$")  # a view of the same bits as numbers of another type


def reshaped(source: str) -> str:
    """The text with ``reshape`` for each ``view`` that is given sizes; the same text where it has none."""
    edits = Edits(Text.of(source))
    for node in nodes(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "view":
            continue
        if node.args and not node.keywords and not any(_TYPE.search(ast.unparse(a)) for a in node.args):
            end = edits.text.end(node.func)
            edits.replace(end - len("view"), end, "reshape")
    return edits.whole()
