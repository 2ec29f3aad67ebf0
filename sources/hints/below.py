"""Bases that leave something to the classes below them: who asks for one is given one of these."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from sources.hints.spelling import constructor
from sources.text.methods import methods, unfinished, unset
from sources.text.symbols import Package
from sources.text.targets import Here

_MODULES = frozenset(["nn.Module", "torch.nn.Module", "Module"])
MAX_STEPS = 4  # from a base to a class that leaves nothing


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

    def beside(self, key: Here) -> list[Here]:
        """The classes of one of our replacements that are kinds of the same as one of it: that may be meant, too.

        Of layers there are many, which do not stand for each other: their base has one itself.
        """
        above = self._bases(key) if key.file in self.package.replacements else []
        plain = [b for b in above if (node := self.package.class_of(b)) is not None and not node.bases]
        return [kind for base in plain for kind in self._below(base) if kind != key]

    def heirs(self, key: Here) -> list[Here]:
        """The classes right below one that take what it takes: they have no constructor of their own."""
        known = ((kind, self.package.class_of(kind)) for kind in self._below(key))
        return [kind for kind, node in known if node is not None and constructor(node) is None]

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

    def _bases(self, key: Here) -> list[Here]:
        node = self.package.class_of(key)
        plain = [b for b in (node.bases if node else ()) if isinstance(b, ast.Name | ast.Attribute)]
        return [t for b in plain if isinstance(t := self.package.chain(key.file, b)[0], Here)]

    def lineage(self, key: Here) -> dict[Here, ast.ClassDef]:
        """A class and those above it in the package, nearest first."""
        found: dict[Here, ast.ClassDef] = {}
        stack = [key]
        while stack:
            if (place := stack.pop(0)) not in found and (node := self.package.class_of(place)) is not None:
                found[place] = node
                stack += self._bases(place)
        return found

    def constructors(self, key: Here) -> Iterator[tuple[str, ast.FunctionDef]]:
        """The constructors that take what a class is given, with their files: its own, and its bases' for the rest."""
        stack, seen = [key], set[Here]()
        while stack:
            place = stack.pop(0)
            node = self.package.class_of(place) if place not in seen else None
            seen.add(place)
            if node is None:
                continue
            if (init := constructor(node)) is not None:
                yield place.file, init
            if init is None or init.args.kwarg or init.args.vararg:
                stack += self._bases(place)

    def _leaves(self, key: Here) -> bool:
        """Whether a class calls what it is to get from a class below: a method, or a part that nothing sets.

        Of a module that is ``forward``, whoever calls it.
        """
        lineage = [*self.lineage(key).values()]
        known = methods(lineage)
        bare = "forward" not in known and any(ast.unparse(b) in _MODULES for node in lineage for b in node.bases)
        return bare or any(unfinished(known, name) for name in known) or unset(lineage)
