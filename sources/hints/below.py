"""Bases that leave something to the classes below them: who asks for one is given one of these."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field

from sources.text.methods import methods, unfinished
from sources.text.scope import walk
from sources.text.symbols import Here, Package

MAX_STEPS = 4  # from a base to a class that leaves nothing
_SETTERS = ("register_buffer", "register_parameter", "add_module", "register_module", "setattr")
_PLAIN = ("Module", "ABC", "object")  # bases that add nothing, by their last name


@dataclass(slots=True)
class Below:
    """The classes of a package by what they are kinds of, looked through when first asked for."""

    package: Package
    _kinds: dict[Here, list[Here]] | None = None
    _known: dict[Here, Here] = field(default_factory=dict)

    def instead(self, base: Here) -> Here:
        """The first class below a base, of its own file if there is one, that leaves nothing; else the base."""
        if base not in self._known:
            self._known[base] = self._first(base)
        return self._known[base]

    def _first(self, base: Here) -> Here:
        queue, seen = [base], {base}
        for _ in range(MAX_STEPS if self._leaves(base) else 0):
            found = [k for b in queue for k in sorted(self._below(b), key=lambda k: k.file != b.file) if k not in seen]
            if (whole := next((k for k in found if not self._leaves(k)), None)) is not None:
                return whole
            queue, seen = found, seen | {*found}
        return base

    def _below(self, base: Here) -> list[Here]:
        if self._kinds is None:
            self._kinds = defaultdict(list)
            for path in self.package.looked_through():
                file = self.package.file(path)
                for name, ways in file.bindings.items() if file else ():
                    for above in self._bases(Here(path, name)) if isinstance(ways[-1], ast.ClassDef) else ():
                        self._kinds[above].append(Here(path, name))
        return self._kinds.get(base, [])

    def _class(self, key: Here) -> ast.ClassDef | None:
        file = self.package.file(key.file)
        node = file.bindings[key.name][-1] if file else None
        return node if isinstance(node, ast.ClassDef) else None

    def _bases(self, key: Here) -> list[Here]:
        node = self._class(key)
        plain = [b for b in (node.bases if node else ()) if isinstance(b, ast.Name | ast.Attribute)]
        return [t for b in plain if isinstance(t := self.package.chain(key.file, b)[0], Here)]

    def _lineage(self, key: Here) -> list[ast.ClassDef]:
        """A class and those above it in the package."""
        found: dict[Here, ast.ClassDef] = {}
        stack = [key]
        while stack:
            if (place := stack.pop(0)) not in found and (node := self._class(place)) is not None:
                found[place] = node
                stack += self._bases(place)
        return list(found.values())

    def _leaves(self, key: Here) -> bool:
        """Whether a class calls what it is to get from a class below: a method, or a part that nothing sets."""
        lineage = self._lineage(key)
        known = methods(lineage)
        there = _there(lineage)
        return any(unfinished(known, name) for name in known) or there is not None and not _asked(lineage) <= there


def _asked(lineage: list[ast.ClassDef]) -> set[str]:
    """Attributes of itself that a class calls or goes through."""
    every = (n for kind in lineage for n in walk(kind) if isinstance(n, ast.Call | ast.For))
    return set(filter(None, (_own(n.func if isinstance(n, ast.Call) else n.iter) for n in every)))


def _there(lineage: list[ast.ClassDef]) -> set[str] | None:
    """Attributes that a class has, or sets; None where it is a kind of something else, which may have any."""
    from torch import nn  # heavy: who only reads our reasons does without

    there = {*dir(nn.Module)}
    for kind in lineage:
        if any(ast.unparse(b).split(".")[-1] not in (*_PLAIN, *(k.name for k in lineage)) for b in kind.bases):
            return None
        there |= {s.name for s in kind.body if isinstance(s, ast.FunctionDef | ast.ClassDef)}
        there |= {s.target.id for s in kind.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
        there |= {t.id for s in kind.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
        for node in walk(kind):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                there.add(_own(node))
            elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in _SETTERS:
                there |= {a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return there


def _own(node: ast.AST) -> str:
    """The name of an attribute of ``self``, "" for anything else."""
    plain = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if plain and isinstance(node, ast.Attribute) else ""
