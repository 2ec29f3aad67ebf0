"""Registries: containers that decorators fill, and out of which others take by name.

``@MODELS.register_module()`` puts a class into ``MODELS``, and ``MODELS.build({"type": "Neck"})`` takes it out: what
holds the container and says the name needs the class, though nothing in it reads the class's own name.
"""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sources.scope import nodes
from sources.symbols import Here, Package

MAX_ENTRIES = 40  # of all containers that one task takes


@dataclass(frozen=True, slots=True)
class Entry:
    """A definition that a decorator puts into a container."""

    key: Here
    container: Here
    names: frozenset[str]  # by which it may be taken out, in lower case
    decorator: ast.expr


class Registries:
    """The entries of a package's registries, collected when first asked for."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._entries: dict[Here, list[Entry]] | None = None

    def wanted(self, containers: Iterable[Here], words: set[str]) -> list[Entry]:
        """Entries of these containers that go by one of the words, which are in lower case."""
        if self._entries is None:
            self._entries = self._collected()
        found = (e for c in containers for e in self._entries.get(c, []) if e.names & words)
        return list(found)[:MAX_ENTRIES]

    def _collected(self) -> dict[Here, list[Entry]]:
        found: dict[Here, list[Entry]] = defaultdict(list)
        for path in self._package.looked_through():
            file = self._package.file(path) if path not in self._package.examples else None
            for node in file.tree.body if file else ():
                for decorator in getattr(node, "decorator_list", ()):
                    for container in self._filled(path, decorator):
                        key = Here(path, node.name)  # type: ignore[attr-defined]
                        entry = Entry(key, container, _names(node, decorator), decorator)
                        found[container].append(entry)
        return found

    def _filled(self, path: str, decorator: ast.expr) -> Iterator[Here]:
        """The containers that a decorator fills."""
        root = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not isinstance(root, ast.Name | ast.Attribute):
            return
        target, used = self._package.chain(path, root)
        file = self._package.file(target.file) if isinstance(target, Here) else None
        if not isinstance(target, Here) or file is None:
            return
        node = file.bindings[target.name][-1]
        if isinstance(node, ast.FunctionDef):
            stored = (n.value.id for n in nodes(node) if isinstance(n, ast.Subscript)
                      and isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name))  # fmt: skip
            yield from (Here(target.file, name) for name in sorted(set(stored)) if name in file.bindings)
        elif isinstance(node, ast.Assign | ast.AnnAssign) or ast.unparse(root).count(".") > used:
            yield target


def _names(node: ast.stmt, decorator: ast.expr) -> frozenset[str]:
    given = [*decorator.args, *(k.value for k in decorator.keywords)] if isinstance(decorator, ast.Call) else []
    said = {
        c.value.lower() for a in given for c in ast.walk(a) if isinstance(c, ast.Constant) and isinstance(c.value, str)
    }
    return frozenset(said or {getattr(node, "name", "").lower()})


def words(trees: Iterable[ast.AST]) -> set[str]:
    """What trees say that may be an entry's name: strings, and attributes such as ``Norm.BATCH``; in lower case."""
    return set().union(*map(words_in, trees))


@functools.lru_cache(maxsize=1 << 13)
def words_in(tree: ast.AST) -> frozenset[str]:
    """The same of one tree, remembered: a registry's function is part of each of its entries."""
    found = set()
    for node in nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80:
            found.add(node.value.split(".")[-1].lower())
            found.add(node.value.lower())
        elif isinstance(node, ast.Attribute):
            found.add(node.attr.lower())
    return frozenset(found)
