"""Weights of double precision, as numpy's numbers make them, where all else is of single: said in the constructor."""

from __future__ import annotations

import ast
import re

from sources.text.rewrite import Edits, Text

NOTE = "its weights are of single precision, as its inputs are"
WANTED = re.compile(r"(?i)\bdouble\b.*\bfloat\b|\bfloat\b.*\bdouble\b")


def of_single(source: str, name: str) -> str:
    """The text with a constructor of the class ``name`` that ends so; the same text where it has none of its own."""
    kind = next((n for n in ast.parse(source).body if isinstance(n, ast.ClassDef) and n.name == name), None)
    init = next((s for s in getattr(kind, "body", ()) if getattr(s, "name", "") == "__init__"), None)
    if not isinstance(init, ast.FunctionDef):
        return source
    edits, last = Edits(Text.of(source)), init.body[-1]
    edits.replace(edits.text.end(last), edits.text.end(last), f"\n{' ' * last.col_offset}self.float()")
    return edits.whole()
