"""Numbers of double precision, as numpy's make them, where all else is of single: said where these are made.

Weights are made in the constructor, and of lists of numpy's numbers torch makes tensors of double precision.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sources.text.rewrite import Edits, Text
from sources.text.scope import nodes

NOTE = "its weights are of single precision, as its inputs are"
WANTED = re.compile(r"(?i)\bdouble\b.*\bfloat\b|\bfloat\b.*\bdouble\b")


def of_single(source: str, name: str) -> str:
    """The text with a constructor of the class ``name`` that ends so, and tensors of lists that are; else the same."""
    tree = ast.parse(source)
    kind = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name), None)
    init = next((s for s in getattr(kind, "body", ()) if getattr(s, "name", "") == "__init__"), None)
    edits = Edits(Text.of(source))
    for call in _of_lists(tree):
        edits.replace(edits.text.end(call) - 1, edits.text.end(call), ", dtype=torch.float32)")
    if isinstance(init, ast.FunctionDef):
        last = init.body[-1]
        edits.replace(edits.text.end(last), edits.text.end(last), f"\n{' ' * last.col_offset}self.float()")
    return edits.whole()


def _of_lists(tree: ast.Module) -> Iterator[ast.Call]:
    """Calls of ``torch.tensor`` on what a function filled a list with."""
    for function in nodes(tree):
        inner = nodes(function) if isinstance(function, ast.FunctionDef) and function.name != "__init__" else ()
        given = [s for s in inner if isinstance(s, ast.Assign) and isinstance(s.value, ast.List | ast.ListComp)]
        lists = {t.id for s in given for t in s.targets if isinstance(t, ast.Name)}
        calls = (n for n in inner if isinstance(n, ast.Call) and ast.unparse(n.func) == "torch.tensor")
        yield from (c for c in calls if not c.keywords and [getattr(a, "id", "") in lists for a in c.args] == [True])
