"""What scripts do with a module before they call it, or by how they call it, said within its class.

A method without arguments that makes the parts of a network, ``build_model()``, is called where it is constructed; and
inputs that forward takes out of its ``**kwargs`` by name are parameters.
"""

from __future__ import annotations

import ast
import re

from sources.text.rewrite import Edits, Text
from sources.text.scope import classes, forwards, nodes

_BUILDS = re.compile(
    r"_?(build|create|init|make|define|configure|setup)_?(model|net(work)?s?|modules|layers)|build|setup"
)
_DEFINES = re.compile(rf"def ({_BUILDS.pattern})\(self\)")  # searched for in every file: plain letters come first


def with_built_parts(text: str, tree: ast.Module) -> str:
    """The text with constructors that end in such a method, where nothing of the file calls it on itself."""
    if not _DEFINES.search(text):
        return text
    edits = Edits(Text.of(text))
    for kind in classes(tree):
        methods = {s.name: s for s in kind.body if isinstance(s, ast.FunctionDef)}
        builds = [m for n, m in methods.items() if _BUILDS.fullmatch(n) and _makes(m) and f"self.{n}(" not in text]
        init = methods.get("__init__")
        if init is None or len(builds) != 1:
            continue
        end = edits.text.end(init.body[-1])
        edits.replace(end, end, f"\n{' ' * init.body[-1].col_offset}self.{builds[0].name}()")
    return edits.whole()


def _makes(method: ast.FunctionDef) -> bool:
    """Whether a method takes nothing and gives attributes of its object something that is made."""
    given = method.args
    if len(given.args) != 1 or given.vararg or given.kwarg or given.kwonlyargs or method.decorator_list:
        return False
    made = (n for n in nodes(method) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call))
    return any(ast.unparse(t).startswith("self.") for n in made for t in n.targets)


def with_named_inputs(text: str, tree: ast.Module) -> str:
    """The text with a parameter for each input that forward takes out of its ``**kwargs``: ``kwargs["labels"]``."""
    if not (taking := [(method, rest) for method in forwards(tree) if (rest := method.args.kwarg)]):
        return text
    edits = Edits(Text.of(text))
    for method, rest in taking:
        taken = [n for n in nodes(method) if isinstance(n, ast.Subscript) and _key(n, rest.arg)]
        names = list(dict.fromkeys(_key(n, rest.arg) for n in taken))
        uses = [n for n in nodes(method) if isinstance(n, ast.Name) and n.id == rest.arg]
        bound = {n.id for n in nodes(method) if isinstance(n, ast.Name)} | {a.arg for a in method.args.args}
        if not names or len(uses) != len(taken) or method.args.defaults or method.args.kwonlyargs:
            continue
        if method.args.vararg or not bound.isdisjoint(names):
            continue
        start = edits.text.data.rfind(b"**", 0, edits.text.start(rest))
        edits.replace(start, start, "".join(f"{name}, " for name in names))
        for node in taken:
            edits.replace(edits.text.start(node), edits.text.end(node), _key(node, rest.arg))
    return edits.whole()


def _key(node: ast.Subscript, name: str) -> str:
    """The word by which something is taken out of what is called like this, "" for other subscripts."""
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    held = isinstance(node.value, ast.Name) and node.value.id == name and isinstance(node.ctx, ast.Load)
    return key if held and isinstance(key, str) and key.isidentifier() else ""
