"""Which classes of a package a constructor's parameter may be an instance of: those that have what it is asked for.

``self.lm.encode(x)`` in a class that was given ``lm`` asks for a class with a method ``encode``; no type hint says so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from posixpath import dirname

import torch
from torch import nn

from sources.text.scope import nodes
from sources.text.symbols import Package
from sources.text.targets import Here

# What nearly everything has: being asked for it tells nothing.
_OF_VALUES = {*dir(torch.Tensor), *dir(dict), *dir(list), *dir(str), *dir(tuple)} - {"encode"}
_USUAL = frozenset([*dir(nn.Module), *_OF_VALUES, "forward"])
COUNTED = "__len__"
MAX_DEPTH = 8  # of bases


@dataclass(slots=True)
class Asked:
    """What a class does with one of its parameters, also by way of an attribute of self."""

    called: bool = False  # it is run itself
    methods: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)  # all that is read of it, methods included

    @property
    def telling(self) -> set[str]:
        """What few classes have; nothing where no method is asked for: that may be a record of settings.

        What is counted, and has attributes, is none: a vocabulary.
        """
        counted = self.methods & {COUNTED}
        plain = self.members - _USUAL
        return plain | counted if self.methods - _USUAL or plain and counted else set()


def asked(node: ast.ClassDef) -> dict[str, Asked]:
    """What each parameter of a class's constructor is asked for."""
    init = next((s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)
    names = [a.arg for a in [*init.args.args[1:], *init.args.kwonlyargs]] if init else []
    found: dict[str, Asked] = {name: Asked() for name in names}
    held = dict(_kept(init, names)) if init else {}
    inside = {id(n) for n in nodes(init)} if init else set[int]()

    def of(expression: ast.expr) -> Asked | None:
        match expression:
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return found.get(held.get(name, ""))
            case ast.Name(id=name) if id(expression) in inside:  # elsewhere it means something else
                return found.get(name)
        return None

    for inner in nodes(node):
        match inner:
            case ast.Attribute(value=owner, attr=name):
                if use := of(owner):
                    use.members.add(name)
            case ast.Call(func=function, args=args):
                if use := of(function):
                    use.called = True
                if isinstance(function, ast.Attribute) and (use := of(function.value)):
                    use.methods.add(function.attr)
                for use in filter(None, map(of, args)) if ast.unparse(function) == "len" else ():
                    use.methods.add(COUNTED)
    return found


def _kept(init: ast.FunctionDef, names: list[str]) -> Iterator[tuple[str, str]]:
    """Attributes of self that are parameters, with the parameters' names."""
    for statement in (n for n in nodes(init) if isinstance(n, ast.Assign)):
        if isinstance(statement.value, ast.Name) and statement.value.id in names:
            for target in statement.targets:
                if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                    yield target.attr, statement.value.id


class Likeness:
    """The classes of a package by what they have."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._known: dict[Here, frozenset[str]] = {}
        self._every: list[Here] | None = None

    def of(self, use: Asked, user: Here) -> tuple[Here, ast.ClassDef] | None:
        """The class that has what a parameter of ``user`` is asked for, the nearest and plainest of several."""
        telling = use.telling
        if not telling:
            return None
        found = [c for c in self._classes() if c != user and telling <= self.members(c)]
        found = [c for c in found if not use.called or self.members(c) & {"forward", "__call__"}]

        def place(c: Here) -> tuple[int, bool, int, str, str]:
            own = self.members(c)
            return -len(use.members & own), c.file != user.file, len(own), c.file, c.name

        ranked = sorted(found, key=place)
        node = self._node(ranked[0]) if ranked else None
        return (ranked[0], node) if node is not None else None

    def named(self, name: str, use: Asked, user: Here) -> tuple[Here, ast.ClassDef] | None:
        """The class that a parameter that is run is called after, ``transformer``: the nearest, or the only one."""
        word = name.replace("_", "").lower()
        found = [c for c in self._classes() if c.name.lower() == word and c != user] if use.called else []
        near = [[c for c in found if c.file == user.file],
                [c for c in found if dirname(c.file) == dirname(user.file)], found]  # fmt: skip
        own = next(filter(None, near), [])
        node = self._node(own[0]) if len(own) == 1 and "forward" in self.members(own[0]) else None
        return (own[0], node) if node is not None else None

    def kinds(self, node: ast.ClassDef, user: Here) -> Iterator[tuple[str, Here]]:
        """Required parameters that layers are made with, and the classes that have what is read of them themselves.

        ``block(planes * block.expansion)``, also in a method that the parameter is handed to.
        """
        for name in _required(node):
            known = _names_of(name, node)
            read = {n.attr for n in nodes(node) if isinstance(n, ast.Attribute) and _is(n.value, known)} - _USUAL
            if read and any(isinstance(n, ast.Call) and _is(n.func, known) for n in nodes(node)):
                fit = [c for c in self._classes() if c != user and read <= self._shared(c)]
                near = min(fit, key=lambda c: self._distance(c, user), default=None)
                yield from [(name, near)] if near and "forward" in self.members(near) else []

    def _distance(self, key: Here, user: Here) -> tuple[bool, bool]:
        """How far a class is from another: what the other's file knows is nearest, then what stands beside it."""
        return self.package.lookup(user.file, key.name) != key, dirname(key.file) != dirname(user.file)

    def _shared(self, key: Here, depth: int = 0) -> set[str]:
        """Names that a class gives a value in its own text, or a base of the package does."""
        node = self._node(key)
        given = (t for s in node.body if isinstance(s, ast.Assign) for t in s.targets) if node else iter(())
        found = {t.id for t in given if isinstance(t, ast.Name)}
        for base in node.bases if node and depth < MAX_DEPTH else ():
            if isinstance(base, ast.Name | ast.Attribute):
                target, _ = self.package.chain(key.file, base)
                found |= self._shared(target, depth + 1) if isinstance(target, Here) else set()
        return found

    def members(self, key: Here, depth: int = 0) -> frozenset[str]:
        """Names of a class's methods and attributes, those of its bases in the package included."""
        if key not in self._known:
            self._known[key] = frozenset()  # the answer for a circle
            node, found = self._node(key), set[str]()
            for base in node.bases if node and depth < MAX_DEPTH else ():
                if isinstance(base, ast.Name | ast.Attribute):
                    target, _ = self.package.chain(key.file, base)
                    found |= self.members(target, depth + 1) if isinstance(target, Here) else set()
            self._known[key] = frozenset(found.union(_own(node) if node else ()))
        return self._known[key]

    def _classes(self) -> list[Here]:
        if self._every is None:
            paths = [p for p in self.package.looked_through()
                     if p not in self.package.replacements and p not in self.package.examples]  # fmt: skip
            files = [(p, f) for p in paths if (f := self.package.file(p)) is not None]
            self._every = [Here(p, n) for p, f in files for n, ways in f.bindings.items()
                           if isinstance(ways[-1], ast.ClassDef)]  # fmt: skip
        return self._every

    def _node(self, key: Here) -> ast.ClassDef | None:
        file = self.package.file(key.file)
        ways = file.bindings.get(key.name, []) if file else []
        return next((w for w in reversed(ways) if isinstance(w, ast.ClassDef)), None)


def _required(node: ast.ClassDef) -> list[str]:
    """Parameters of a class's constructor that have no default."""
    init = next((s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)
    given = init.args.args[1:] if init else []
    return [a.arg for a in given[: len(given) - len(init.args.defaults)]] if init else []


def _names_of(name: str, node: ast.ClassDef) -> set[str]:
    """What a parameter of a class's constructor is called there, and in the methods of the class that are given it."""
    taken = {s.name: [a.arg for a in s.args.args[1:]] for s in node.body if isinstance(s, ast.FunctionDef)}
    handed = [(n, n.func.attr) for n in nodes(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
              and ast.unparse(n.func.value) == "self" and n.func.attr in taken]  # fmt: skip
    known, before = {name}, 0
    while len(known) > before:
        before = len(known)
        for call, method in handed:
            known |= {p for a, p in zip(call.args, taken[method], strict=False) if _is(a, known)}
            known |= {k.arg for k in call.keywords if k.arg and _is(k.value, known)}
    return known


def _is(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _own(node: ast.ClassDef) -> Iterator[str]:
    for inner in nodes(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            yield from [inner.attr] if isinstance(inner.value, ast.Name) and inner.value.id == "self" else []
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef):
            yield statement.name
        elif isinstance(statement, ast.Assign):
            yield from (t.id for t in statement.targets if isinstance(t, ast.Name))
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id
