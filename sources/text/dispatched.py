"""Methods that a class takes out of itself by a word which has a usual value, said as what they usually are.

``getattr(self, "_" + mode)(x)``, where ``mode = kwargs.get("mode", "forward")`` or is a parameter with that default,
is ``self._forward(x)``: a task runs no other mode, and what is taken by a computed name could be any method.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from sources.text.rewrite import Edits, Text
from sources.text.scope import classes, walk

_WITH_DEFAULT = ("get", "pop")


def with_usual_methods(text: str, tree: ast.Module) -> str:
    """The text with the usual methods of classes in place of calls of what ``getattr`` takes out of ``self``."""
    if "getattr(self," not in text:
        return text
    edits = Edits(Text.of(text))
    for kind in classes(tree):
        for method in (s for s in kind.body if isinstance(s, ast.FunctionDef)):
            for taken in _taken(method):
                if name := _spelled(taken.args[1], _usual(method)):
                    edits.replace(edits.text.start(taken), edits.text.end(taken), f"self.{name}")
    return edits.whole()


def _taken(method: ast.FunctionDef) -> Iterator[ast.Call]:
    """What a method takes out of ``self`` and calls."""
    for node in walk(method):
        call = node.func if isinstance(node, ast.Call) else None
        if isinstance(call, ast.Call) and len(call.args) == 2 and ast.unparse(call).startswith("getattr(self,"):
            yield call


def _usual(method: ast.FunctionDef) -> dict[str, str]:
    """Words that variables of a method have where nobody says otherwise."""
    given = method.args
    pairs = [*zip(reversed(given.args), reversed(given.defaults), strict=False),
             *zip(given.kwonlyargs, given.kw_defaults, strict=True)]  # fmt: skip
    found = {a.arg: d.value for a, d in pairs if isinstance(d, ast.Constant) and isinstance(d.value, str)}
    stored = Counter(n.id for n in walk(method) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    for node in walk(method):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            match node.value:
                case ast.Call(func=ast.Attribute(attr=how), args=[_, ast.Constant(value=str() as word)]):
                    found |= {node.targets[0].id: word} if how in _WITH_DEFAULT else {}
                    stored[node.targets[0].id] -= how in _WITH_DEFAULT
    return {name: word for name, word in found.items() if not stored[name]}


def _spelled(node: ast.expr, usual: Mapping[str, str]) -> str:
    """The name that an expression of words comes to; "" where that is not known."""
    parts = [_part(p, usual) for p in _parts(node)]
    name = "".join(p for p in parts if p is not None)
    return name if None not in parts and name.isidentifier() else ""


def _parts(node: ast.expr) -> list[ast.expr]:
    """What a string is put together of, from left to right."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*_parts(left), *_parts(right)]
        case ast.BinOp(left=ast.Constant(value=str() as form), op=ast.Mod(), right=ast.Name() as word):
            return _around(form, "%s", word)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as form), attr="format"), args=[word]):
            return _around(form, "{}", word)
        case ast.JoinedStr(values=values):
            return [v.value if isinstance(v, ast.FormattedValue) else v for v in values]
    return [node]


def _around(form: str, place: str, word: ast.expr) -> list[ast.expr]:
    before, _, behind = form.partition(place)
    return [ast.Constant(before), word, ast.Constant(behind)]


def _part(node: ast.expr, usual: Mapping[str, str]) -> str | None:
    if isinstance(node, ast.Name):
        return usual.get(node.id)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
