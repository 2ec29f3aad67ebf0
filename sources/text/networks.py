"""Networks that are taken by name, ``getattr(torchvision.models, name)``, said as a table of those that we have.

A task imports neither torchvision nor the hub, and what is taken by a computed name is found by no one who looks for
names: of a table, each entry is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sources.text.rewrite import Edits, Text, first_import
from sources.text.scope import nodes

MODULE, TABLE = "torchvision_models", "torchvision_networks"
_USUAL = ("resnet50", "resnet18", "resnet34", "resnet101")  # of one class: more of them cost a line each
_FAMILIES = {"vgg": ("vgg16", "vgg19"), "mobilenet": ("mobilenet_v2",)}
_KNOWN = (*_USUAL, "resnet152", "resnext50_32x4d", "resnext101_32x8d", "wide_resnet50_2", "vgg11", "vgg13", "vgg16",
          "vgg16_bn", "vgg19", "vgg19_bn", "mobilenet_v2")  # fmt: skip
_TABLES = re.compile(r"\bgetattr\(|\.__dict__\b")
_HUB = re.compile(r"(torch\.)?hub\.load")


def with_networks(text: str, tree: ast.Module) -> str:
    """The text with an entry of a table in place of each network of torchvision, or of a hub, that is taken by name."""
    if "hub.load(" not in text and not ("torchvision" in text and _TABLES.search(text)):
        return text
    edits, models = Edits(Text.of(text)), set(_models(tree))
    for node in (n for n in nodes(tree) if isinstance(n, ast.Call | ast.Subscript)):
        if (name := _taken(node, models)) is not None:
            edits.replace(edits.text.start(node), edits.text.end(node), f"{TABLE}[{ast.unparse(name)}]")
        elif isinstance(node, ast.Call) and (known := _of_hub(node)):
            edits.replace(edits.text.start(node), edits.text.end(node), f"{TABLE}[{known!r}]()")
    first = first_import(tree)
    if not edits.changes or first is None:
        return text
    start = edits.text.start(first)
    edits.replace(start, start, f"import torchvision.models as {MODULE}\n{_table(text)}\n")
    return edits.whole()


def _table(text: str) -> str:
    """The statement that makes the table: the usual networks, and those that the text names."""
    named = [n for n in _KNOWN if re.search(rf"\b{n}", text)]
    families = [n for word, usual in _FAMILIES.items() if word in text for n in usual]
    entries = (f"{n!r}: {MODULE}.{n}" for n in dict.fromkeys([*_USUAL, *named, *families]))
    return f"{TABLE} = {{{', '.join(entries)}}}"


def _models(tree: ast.Module) -> Iterator[str]:
    """What the file calls torchvision's module of networks."""
    for node in nodes(tree):
        for alias in node.names if isinstance(node, ast.Import) else ():
            if alias.name.startswith("torchvision"):
                whole = alias.name if alias.name.startswith("torchvision.models") else "torchvision.models"
                yield whole if not alias.asname else alias.asname if whole == alias.name else f"{alias.asname}.models"
        if isinstance(node, ast.ImportFrom) and node.module == "torchvision":
            yield from (a.asname or a.name for a in node.names if a.name == "models")


def _taken(node: ast.AST, models: set[str]) -> ast.expr | None:
    """The computed name by which an expression takes one out of a module of networks, None where it does not."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr" and len(node.args) in (2, 3):
        return node.args[1] if ast.unparse(node.args[0]) in models else None
    if isinstance(node, ast.Subscript) and ast.unparse(node.value).removesuffix(".__dict__") in models:
        return node.slice
    return None


def _of_hub(call: ast.Call) -> str:
    """The network that a hub is asked for, ``"resnext101_32x8d_wsl"``, "" where we have none that is made like it."""
    name = call.args[1] if _HUB.fullmatch(ast.unparse(call.func)) and len(call.args) > 1 else None
    said = name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""
    return max((n for n in _KNOWN if said.startswith(n)), key=len, default="")
