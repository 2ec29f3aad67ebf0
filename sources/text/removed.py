"""Functions that torch had and has no longer, by the names of those of ours that compute the same."""

from __future__ import annotations

import ast
import re

from sources.text.rewrite import Edits, Text
from sources.text.scope import nodes

MODULE = "torch._removed"  # of ours, see ``sources.replacements``
REMOVED = frozenset(
    ["rfft", "irfft", "ifft", "symeig", "eig", "solve", "gesv", "lstsq", "gels", "potrf", "matrix_rank"]
)
_CALLED = frozenset(["fft"])  # which are modules now
_SAID = re.compile(rf"torch\.(?:{'|'.join(sorted(REMOVED))})\b|torch\.fft\(")


def with_removed(text: str, tree: ast.Module) -> str:
    """The text with what torch no longer has under a name of its own, which is imported beside torch."""
    if not _SAID.search(text):
        return text
    first = next((n for n in tree.body if isinstance(n, ast.Import) and any(a.name == "torch" for a in n.names)), None)
    calls = [n.func for n in nodes(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    every = [n for n in nodes(tree) if isinstance(n, ast.Attribute) and n.attr in REMOVED]
    found = [n for n in [*every, *(c for c in calls if c.attr in _CALLED)] if ast.unparse(n.value) == "torch"]
    if first is None or not found:
        return text
    edits = Edits(Text.of(text))
    for node in found:
        edits.replace(edits.text.start(node), edits.text.end(node), f"torch_{node.attr}")
    said = ", ".join(f"{name} as torch_{name}" for name in sorted({n.attr for n in found}))
    edits.replace(edits.text.end(first), edits.text.end(first), f"\nfrom {MODULE} import {said}")
    return edits.whole()
