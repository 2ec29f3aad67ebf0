"""Layers that a constructor takes one by one, ``Stack(*layers)``, said as one list of them.

Arguments are found by their names, and those have none: of a container a search sees the empty one only.
"""

from __future__ import annotations

import ast

from sources.text.rewrite import Edits, Text, extent

NOTE = "layers that the constructor takes one by one come in one list"
_OF_SEQUENTIAL = "def __init__(self, layers):\n        super().__init__(*layers)\n\n    "


def listed(source: str, name: str) -> str:
    """The text with a class's constructor taking a list where it took any number of arguments.

    The same text where it takes none so, or where something else in it names the class.
    """
    tree, edits = ast.parse(source), Edits(Text.of(source))
    node = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name), None)
    if node is None or sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(tree)):
        return source
    init = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
    first = next((n for n in node.body if isinstance(n, ast.FunctionDef)), None)
    if init is not None and (starred := init.args.vararg) and not init.args.defaults:
        at = edits.text.start(starred)
        edits.replace(at - 1, at, "")  # the asterisk
    elif init is None and first is not None and "Sequential" in [ast.unparse(b).split(".")[-1] for b in node.bases]:
        at, _ = extent(edits.text, first)
        edits.replace(at, at, _OF_SEQUENTIAL)
    return edits.parsed()
