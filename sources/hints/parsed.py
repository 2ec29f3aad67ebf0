"""Settings that a program reads out of a text: ``opt.sizes = eval(opt.sizes)``, whose default is "[4, 4]"."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

_EVALUATE = ("meant_by", "literal_eval", "loads")
_NUMBERS = {"int": int, "float": float}
Reading = tuple[str, str | None]  # "eval", or the type of the parts and what stands between them


@dataclass(slots=True)
class Parsed:
    """How a package's programs read attributes out of the text that these held before, by their names."""

    _known: dict[str, Reading] = field(default_factory=dict)

    def note(self, node: ast.AST) -> None:
        """Learn from an assignment to an attribute."""
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Attribute) and isinstance(node, ast.Assign):
            readings = (_reading(n, ast.unparse(target), node.value) for n in ast.walk(node.value))
            if found := next(filter(None, readings), None):
                self._known.setdefault(target.attr, found)

    def of(self, name: str, text: str) -> str:
        """The expression of a name's value, where ``text`` is that of what it is by default."""
        if name not in self._known or text[:1] not in "'\"":
            return text
        how, between = self._known[name]
        try:
            word = ast.literal_eval(text)
            return repr(ast.literal_eval(word) if how == "eval" else [_NUMBERS[how](p) for p in word.split(between)])
        except (ValueError, SyntaxError, AttributeError):
            return text


def _reading(node: ast.AST, of: str, whole: ast.expr) -> Reading | None:
    """How a node of a ``whole`` expression reads what is written ``of``; None where it does not."""
    if isinstance(node, ast.Subscript) and ast.unparse(node) == f"globals()[{of}]":
        return "eval", None  # see ``sources.text.evaluated``
    if not isinstance(node, ast.Call):
        return None
    called = ast.unparse(node.func)
    if called.split(".")[-1] in _EVALUATE and [ast.unparse(a) for a in node.args[:1]] == [of]:
        return "eval", None
    numbers = [n.id for n in ast.walk(whole) if isinstance(n, ast.Name) and n.id in _NUMBERS]
    between = getattr(node.args[0], "value", 0) if node.args else None
    return (numbers[0], between) if called == f"{of}.split" and numbers and isinstance(between, str | None) else None
