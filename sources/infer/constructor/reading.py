"""How a program reads its configurations: what is a part of one, what is called, compared with words or only tested."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import torch

from sources.hints.mappings import gone_through
from sources.infer.constructor.parts import FACTORY
from sources.text.remembered import parsed
from sources.text.scope import variable_of

# Attributes of values: what has these is no part of a configuration that has parts.
_OF_TENSORS = frozenset(dir(torch.Tensor))
_OF_VALUES = {*dir(str), *dir(dict), *dir(list), "shape", "size", "to", "dim", "device", "dtype"}
_OF_NO_PART = {"", *_OF_TENSORS, *_OF_VALUES}
_NO_WORDS = ("", "none", "no", "cuda", "cpu", "__main__")  # by which nothing is chosen
# What torch's layers are told by these names.
_TOLD = {"nn.Conv2d": {"in_channels", "out_channels", "kernel_size"}, "nn.Linear": {"in_features", "out_features"}}
# Layers by what networks call them, of images unless the name tells otherwise.
_USUAL = [(r"bn|norm", "nn.BatchNorm2d(64)"), (r"relu|act", "nn.ReLU()"), (r"pool", "nn.MaxPool2d(2)"),
          (r"drop", "nn.Dropout(0.0)"), (r"^fc|linear|classifier", "nn.Linear(64, 64)"),
          (r"conv|features|layer|stage|block|stem", "nn.Conv2d(64, 64, 3, padding=1)")]  # fmt: skip
SEVERAL = 4  # layers in a row of which some are taken
MAX_ALIAS = 2  # dots in what a part of a configuration is called


class Unpacking(NamedTuple):
    """``callee(x, y=z, **name)``."""

    name: str
    callee: str
    positional: int  # arguments beside it
    named: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a program reads its configurations."""

    parts: frozenset[str] = frozenset()  # names that are configurations themselves
    unpacked: tuple[Unpacking, ...] = ()
    called: frozenset[str] = frozenset()  # names of methods
    methods: frozenset[tuple[str, str]] = frozenset()  # of what is called so: ``data.words.size()``
    optional: frozenset[str] = frozenset()  # names of what may be None
    lacking: frozenset[str] = frozenset()  # names of what there may be none of: ``cfg.get("grid") is not None``
    mappings: Mapping[str, str] = field(default_factory=dict)  # expressions of those whose keys are gone through
    words: Mapping[str, list[str]] = field(default_factory=dict)  # expressions of what is compared with a word, by name
    flags: frozenset[str] = frozenset()  # names of what decides something, and is read for nothing else
    stated: Mapping[str, str] = field(default_factory=dict)  # what stands for a name that is not there, as expressions
    layers: Mapping[str, str] = field(default_factory=dict)  # expressions of what makes a layer, by name
    run: Mapping[str, str] = field(default_factory=dict)  # expressions of what is kept and run as a layer, by name


@functools.lru_cache(maxsize=64)
def reading(file: str) -> Reading:
    """How the program in a file reads its configurations."""
    if not file or not Path(file).is_file():
        return Reading()
    parts, unpacked, called, methods = set[str](), list[Unpacking](), set[str](), set[tuple[str, str]]()
    optional, lacking, words = set[str](), set[str](), dict[str, list[str]]()
    tree = parsed(Path(file).read_text())
    aliases, imported, tables = _aliases(tree), _imported(tree), _tables(tree)
    for node in ast.walk(tree):
        if aliases and isinstance(node, ast.Attribute | ast.Subscript) and _read(node) not in _OF_NO_PART:
            parts.update(aliases.get(ast.unparse(node.value), ()) if _depth(node.value) < MAX_ALIAS else ())
        if (name := _read(node)) and name not in _OF_VALUES and (inner := _read(getattr(node, "value", node))):
            root = variable_of(node)
            if root != "self" or _depth(node) > 2:
                parts.add(inner)
        if isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) == "None":
            optional.add(_read(node.left))
            lacking.update(_got(node.left))
        for name, word in (*_compared(node), *_looked_up(node, tables)):
            words.setdefault(name, []).append(word)
        if isinstance(node, ast.Call):
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            if isinstance(node.func, ast.Attribute) and isinstance(owner, ast.Name) and owner.id not in imported:
                called.add(node.func.attr)
            if isinstance(node.func, ast.Attribute) and isinstance(owner, ast.Name | ast.Attribute):
                methods.add((ast.unparse(owner).split(".")[-1], node.func.attr))
            for keyword in node.keywords:
                if keyword.arg is None and (name := _read(keyword.value) or getattr(keyword.value, "id", "")):
                    named = tuple(k.arg for k in node.keywords if k.arg)
                    unpacked.append(Unpacking(name, ast.unparse(node.func), len(node.args), named))
    called -= _plainly_read(tree)  # x.expand(...) of a tensor is no call of config.expand
    return Reading(frozenset(parts), tuple(unpacked), frozenset(called), frozenset(methods), frozenset(optional),
                   frozenset(lacking), gone_through(tree), words, _flags(tree), dict(_stated(tree)),
                   dict(_layers(tree, imported)), dict(_run(tree, imported)))  # fmt: skip


def _plainly_read(tree: ast.AST) -> set[str]:
    """What is read of variables, but not of ``self``, somewhere without a call, and what goes by words anywhere."""
    functions = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    reads = (n for n in ast.walk(tree) if isinstance(n, ast.Attribute | ast.Subscript) and id(n) not in functions)
    return {_read(n) for n in reads
            if isinstance(n, ast.Subscript) or isinstance(n.value, ast.Name) and n.value.id != "self"}  # fmt: skip


def _flags(tree: ast.AST) -> frozenset[str]:
    """Names that are read as a test only, or to be kept by that name: ``if config.tied:``."""
    tests, reads = set[int](), list[ast.AST]()
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            tests.update(map(id, _joined(node.test)))
        elif isinstance(node, ast.Assign) and _read(node.value) == _read(node.targets[0]):
            tests.add(id(node.value))
        elif _read(node) and isinstance(getattr(node, "ctx", None), ast.Load):
            reads.append(node)
    return frozenset(map(_read, reads)).difference(_read(n) for n in reads if id(n) not in tests)


def _stated(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Names that are read with a plain value in case they are not there, and this: ``getattr(args, "tied", False)``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr" and len(node.args) == 3:
            name, value = (getattr(a, "value", None) for a in node.args[1:])
            if isinstance(name, str) and isinstance(value, bool | int | float | str):
                yield name, repr(value)


def _layers(tree: ast.AST, imported: Collection[str]) -> Iterator[tuple[str, str]]:
    """Names of what is called for a layer, ``parts.conv2d(in_channels=64, ...)``, and what makes such a one.

    It is torch's where it is told by these names what that is told; else it stands for any that is run later on.
    """
    calls = [(n, n.func) for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    run = {method.attr for _, method in calls if ast.unparse(method.value) == "self"}
    kept = ((n.targets[0], n.value) for n in ast.walk(tree) if isinstance(n, ast.Assign))
    made = [id(value) for target, value in kept if isinstance(target, ast.Attribute) and target.attr in run]
    for call, method in calls:
        name, owner = method.attr, method.value
        if not isinstance(owner, ast.Name) or owner.id in imported:
            continue
        told = {k.arg for k in call.keywords}
        kind = next((kind for kind, names in _TOLD.items() if names <= told), "")
        if kind:
            yield name, kind.replace("2", next(iter(re.findall(r"([123])d", name)), "2"))
        elif id(call) in made:
            yield name, FACTORY


def _run(tree: ast.AST, imported: Collection[str]) -> Iterator[tuple[str, str]]:
    """Names of what is taken out of something, kept, and run as a layer: ``self.conv1 = resnet.conv1``.

    It is what that name is usual for; where some of several are taken, ``net.features[:-1]``, it is several.
    """
    calls = (n.func for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    run = {method.attr for method in calls if ast.unparse(method.value) == "self"}
    for node in ast.walk(tree) if run else ():
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=kept)],
                value=ast.Attribute(value=ast.Name(id=owner), attr=name)
                | ast.Subscript(value=ast.Attribute(value=ast.Name(id=owner), attr=name), slice=ast.Slice()),
            ) if kept in run and owner not in imported:
                layer = next((text for pattern, text in _USUAL if re.search(pattern, name.lower())), "nn.Identity()")
                several = isinstance(node.value, ast.Subscript)
                yield name, f"nn.Sequential(*({layer} for _ in range({SEVERAL})))" if several else layer


def _joined(test: ast.expr) -> list[ast.expr]:
    """What a test joins by ``and``, ``or`` and ``not``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _joined(test.operand)
    return [e for v in test.values for e in _joined(v)] if isinstance(test, ast.BoolOp) else [test]


def _compared(node: ast.AST) -> Iterator[tuple[str, str]]:
    """What a comparison reads, by its name, and each word that it is compared with, as an expression."""
    if (
        not isinstance(node, ast.Compare)
        or not isinstance(node.ops[0], ast.Eq | ast.In)
        or not (name := _read(node.left))
    ):
        return
    right = node.comparators[0]
    for word in right.elts if isinstance(right, ast.List | ast.Tuple | ast.Set) else [right]:
        if isinstance(word, ast.Constant) and isinstance(word.value, str) and word.value.lower() not in _NO_WORDS:
            yield name, repr(word.value)


def _looked_up(node: ast.AST, tables: Mapping[str, list[str]]) -> Iterator[tuple[str, str]]:
    """What is looked up in a table, by its name, and each word of the table: ``ACT2FN[config.hidden_act]``."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and (name := _read(node.slice)):
        yield from ((name, word) for word in tables.get(node.value.id, ()))


def _tables(tree: ast.Module) -> dict[str, list[str]]:
    """The words of each dictionary that the program writes out at its top level, as expressions."""
    found = {ast.unparse(n.targets[0]): n.value for n in tree.body if isinstance(n, ast.Assign)}
    keys = {name: table.keys for name, table in found.items() if isinstance(table, ast.Dict)}
    return {
        name: [repr(k.value) for k in every if isinstance(k, ast.Constant) and isinstance(k.value, str)]
        for name, every in keys.items()
    }


def _aliases(tree: ast.AST) -> dict[str, set[str]]:
    """Variables, and attributes of self, that are given parts of configurations: what these parts are called."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        part = _read(node.value) if isinstance(node, ast.Assign) and len(node.targets) == 1 else ""
        if isinstance(node, ast.Assign) and part and (variable_of(node.value) != "self" or _depth(node.value) > 1):
            found.setdefault(ast.unparse(node.targets[0]), set()).add(part)
    return {name: parts - _OF_TENSORS for name, parts in found.items()}


def _imported(tree: ast.AST) -> set[str]:
    """``self``, and names of modules: what is called on these is no method of a configuration."""
    imports = (n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom))
    return {"self"}.union(*({a.asname or a.name.split(".")[0] for a in n.names} for n in imports))


def _read(node: ast.AST) -> str:
    """The name that ``x.name`` or ``x["name"]`` reads, or ""."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value if isinstance(node.slice.value, str) else ""
    return ""


def _got(node: ast.expr) -> list[str]:
    """The word of ``x.get("word")``; what a function is given by name is no configuration."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[ast.Constant(value=str(word))]):
            return [word] if not ast.unparse(owner).endswith("kwargs") else []
    return []


def _depth(node: ast.AST) -> int:
    depth = 0
    while isinstance(node, ast.Attribute | ast.Subscript):
        depth, node = depth + 1, node.value
    return depth
