"""Attributes of a module that a script sets before it calls it: ``model.drop_path_prob = args.drop_path_prob``.

A task has no script, so its class has them from the start, with what the program usually has by their names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from sources.text.rewrite import Edits, Text
from sources.text.scope import nodes

NOTE = "what a script sets of a module before it calls it is set in its class"
WANTED = re.compile(r"AttributeError: '(\w+)' object has no attribute '(\w+)'$")


def set_within(source: str, detail: str, defaults: Mapping[str, str]) -> str:
    """The text with such attributes of the class of which an error's ``detail`` says that it lacks one.

    The same text where the class is given it somewhere, or ``defaults`` know no number by its name.
    """
    lacking, tree = WANTED.search(detail), ast.parse(source)
    kinds = (n for n in tree.body if isinstance(n, ast.ClassDef) and lacking and n.name == lacking[1])
    if (kind := next(kinds, None)) is None or lacking is None:
        return source
    read = [n.attr for n in nodes(kind) if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "self"]
    bound = _bound(tree)
    called = {n.func.attr for n in nodes(kind) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)}
    values = {n: defaults[n] for n in dict.fromkeys(read) if n in defaults and n not in {*bound, *called, "training"}}
    numbers = {name: text for name, text in values.items() if _is_number(text)}
    if lacking[2] not in numbers:
        return source
    edits, first = Edits(Text.of(source)), kind.body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(kind.body) > 1
    before = kind.body[1 if told else 0]
    decorators = getattr(before, "decorator_list", [])
    start = edits.text.start(decorators[0]) - 1 if decorators else edits.text.start(before)
    lines = "".join(f"{name} = {text}\n{' ' * before.col_offset}" for name, text in numbers.items())
    edits.replace(start, start, lines)
    return edits.whole()


GIVEN = "what is assigned to its layers from outside is drawn at their start"
ASSERTED = re.compile(r"^AssertionError")


def given_within(source: str) -> str:
    """The text with random weights in place of the None of attributes that a forward asserts to be something else.

    Adaptive normalisation has its scales assigned by who uses it: of as many channels as its means are made for.
    """
    edits = Edits(Text.of(source))
    for kind in (n for n in ast.parse(source).body if isinstance(n, ast.ClassDef)):
        own = {s.name: s for s in kind.body if isinstance(s, ast.FunctionDef)}
        init, forward = own.get("__init__"), own.get("forward")
        if init is None or forward is None:
            continue
        tests = [ast.unparse(n.test) for n in nodes(forward) if isinstance(n, ast.Assert)]
        asserted = {name for test in tests for name in re.findall(r"self\.(\w+) is not None", test)}
        made = [
            n for n in nodes(init) if isinstance(n, ast.Call) and ast.unparse(n.func) in ("torch.zeros", "torch.ones")
        ]
        sizes = [ast.unparse(a) for n in made for a in n.args[:1]]
        for node in (n for n in nodes(init) if isinstance(n, ast.Assign) and asserted and sizes):
            target, nothing = node.targets[0], isinstance(node.value, ast.Constant) and node.value.value is None
            if nothing and isinstance(target, ast.Attribute) and target.attr in asserted:
                weights = f"torch.nn.Parameter(torch.rand({sizes[0]}) + 0.5)"
                edits.replace(edits.text.start(node.value), edits.text.end(node.value), weights)
    return edits.whole()


def _bound(tree: ast.AST) -> set[str]:
    """Names of which a text makes attributes: of what it sets, and of what classes define."""
    stores = {n.attr for n in nodes(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    stores |= {n.id for n in nodes(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    words = {n.value for n in nodes(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}  # setattr
    return stores | words | {n.name for n in nodes(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}


def _is_number(text: str) -> bool:
    try:
        return isinstance(ast.literal_eval(text), int | float)
    except (ValueError, SyntaxError):
        return False
