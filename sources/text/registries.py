"""Registries: containers that decorators fill, and out of which others take by name.

``@MODELS.register_module()`` puts a class into ``MODELS``, and ``MODELS.build({"type": "Neck"})`` takes it out: what
holds the container and says the name needs the class, though nothing in it reads the class's own name.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sources.text.remembered import remembered
from sources.text.scope import nodes, root_of, variable_of, walk
from sources.text.symbols import Package
from sources.text.targets import Here

Meaning = Callable[[str], object]  # of a name
MAX_ENTRIES = 40  # of all containers that one task takes
_REGISTERS = re.compile(r"register_(\w+?)(?:_class|_module|_cls|_fn)?")
_ANY_KIND = ("module", "class", "cls", "fn", "obj")
_DECORATED = re.compile(r"^@register\w*\b[^\n]*\n(?:@[^\n]*\n)*(?:def|class)[ \t]+(\w+)", re.M)


@dataclass(frozen=True, slots=True)
class Entry:
    """A definition that a decorator puts into a container."""

    key: Here
    container: Here
    names: frozenset[str]  # by which it may be taken out, in lower case
    decorator: ast.expr
    sets: frozenset[str] = frozenset()  # attributes that it gives what it is called with, in lower case
    kind: str = ""  # "loss", of ``registry.register_loss("l2")``: where one object holds tables of several kinds


class Registries:
    """The entries of a package's registries, collected when first asked for."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._entries: dict[Here, list[Entry]] | None = None
        self._fetched: dict[str, dict[str, list[str]]] = {}  # of other packages: file of a registry -> name -> files
        self._decorated: dict[str, list[str]] = {}  # of other packages' files: what decorators register in each
        self._of_files: dict[str, list[Entry]] = {}

    def wanted(
        self, containers: Iterable[Here], words: set[str], swept: Collection[object] = (),
        asked: Mapping[Here, str] = MappingProxyType({}),
    ) -> list[Entry]:  # fmt: skip
        """Entries of these containers that go by one of the words, which are in lower case.

        Of those that are ``swept``, all of which are called in turn, what sets one of these attributes counts, too.
        Where one container holds several kinds, what it is ``asked`` for tells of which kinds entries are taken out.
        """
        if self._entries is None:
            self._entries = self._collected()
        known = self._entries
        every = (e for c in containers for e in [*known.get(c, []), *self._elsewhere(c, words)])
        mixed = {c for c, entries in known.items() if len({e.kind for e in entries}) > 1}
        of_kind = (e for e in every if e.container not in mixed or e.kind in asked.get(e.container, e.kind))
        found = (e for e in of_kind if e.names & words or e.container in swept and e.sets & words)
        return list(found)[:MAX_ENTRIES]

    def forget(self) -> None:
        """Let go of entries whose decorators are of files that the package let go of, too."""
        self._of_files = {p: found for p, found in self._of_files.items() if p not in self._package.roots}

    def _collected(self) -> dict[Here, list[Entry]]:
        found: dict[Here, list[Entry]] = defaultdict(list)
        for path in self._package.looked_through():
            for entry in self._of_file(path) if path not in self._package.examples else ():
                found[entry.container].append(entry)
        return found

    def _of_file(self, path: str) -> list[Entry]:
        if path not in self._of_files:
            file = self._package.file(path)
            decorated = [(n, d) for n in (file.tree.body if file else ()) for d in getattr(n, "decorator_list", ())]
            self._of_files[path] = [
                Entry(Here(path, getattr(node, "name", "")), container, _names(node, by), by, _sets(node), _kind(by))
                for node, by in decorated
                for container in self._filled(path, by)
            ]
        return self._of_files[path]

    def _elsewhere(self, container: Here, words: set[str]) -> list[Entry]:
        """Entries that go by one of the words and stand in another package: of its files only those are parsed.

        A factory is filled in its own file, by whatever its methods are called.
        """
        roots, registry = self._package.roots, container.file
        if registry not in self._fetched:
            names = self._fetched[registry] = {}
            file = self._package.file(registry) if roots else None
            for path in roots.beside(registry) if file and "def register" in file.text else ():
                if path not in self._decorated:
                    self._decorated[path] = _DECORATED.findall(roots[path])
                for name in self._decorated[path]:
                    names.setdefault(name.lower(), []).append(path)
        known = self._fetched[registry]
        named = (path for word in sorted(words & known.keys()) for path in known[word])
        files = dict.fromkeys([*([registry] if registry in roots else []), *named])
        return [e for p in files for e in self._of_file(p) if e.container == container]

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
            held = {*stored(node), *(n for n in handed_on(node) if _is_mapping(file.bindings.get(n, [])))}
            yield from (Here(target.file, name) for name in sorted(held) if name in file.bindings)
        elif isinstance(node, ast.Assign | ast.AnnAssign) or ast.unparse(root).count(".") > used:
            yield target


def asked_for(readers: Iterable[tuple[ast.AST, Meaning]], containers: Iterable[Here]) -> dict[Here, str]:
    """The text of all that trees do with containers, but for registering; each is given with what its names mean."""
    found = dict.fromkeys(containers, "")
    for tree, meaning in readers:
        for node, name in _uses(tree):
            held = meaning(name)
            text = ast.unparse(node) if isinstance(held, Here) and held in found else ""
            if isinstance(held, Here) and text and not text.startswith(f"{name}.register"):
                found[held] += f" {text.lower()}"
    return found


@remembered
def _uses(tree: ast.AST) -> tuple[tuple[ast.expr, str], ...]:
    """Attributes, items and calls in a tree of which a variable is the root, with its name."""
    every = (n for n in nodes(tree) if isinstance(n, ast.Attribute | ast.Call | ast.Subscript))
    named = ((n, variable_of(n.func if isinstance(n, ast.Call) else n)) for n in every)
    return tuple((node, name) for node, name in named if name)


def _kind(decorator: ast.expr) -> str:
    """What a decorator says that it registers; "" where it says nothing but that it does."""
    root = decorator.func if isinstance(decorator, ast.Call) else decorator
    said = _REGISTERS.fullmatch(root.attr.lower()) if isinstance(root, ast.Attribute) else None
    return "" if said is None or said[1] in _ANY_KIND else said[1]


def _sets(node: ast.stmt) -> frozenset[str]:
    """Attributes that a function gives its first argument, or a part of it: ``cfg.data.types = 0``."""
    if not isinstance(node, ast.FunctionDef) or not node.args.args:
        return frozenset()
    given = node.args.args[0].arg
    stored = (n for n in nodes(node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    return frozenset(n.attr.lower() for n in stored if getattr(root_of(n), "id", "") == given)


def foreign(package: Package, path: str, change: ast.stmt, named: Collection[str]) -> bool:
    """Whether a statement merges a table into another, ``encoders.update(resnets)``, of which no key is ``named``."""
    call = change.value if isinstance(change, ast.Expr) else None
    if not isinstance(call, ast.Call) or len(call.args) != 1 or not isinstance(call.args[0], ast.Name):
        return False
    target = package.lookup(path, call.args[0].id) if ast.unparse(call.func).endswith(".update") else None
    file = package.file(target.file) if isinstance(target, Here) else None
    node = file.bindings[target.name][0] if file and isinstance(target, Here) else None
    table = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    keys = [k.value for k in table.keys if isinstance(k, ast.Constant)] if isinstance(table, ast.Dict) else []
    return bool(keys) and not any(str(key).lower() in named for key in keys)


def stored(node: ast.FunctionDef) -> Iterator[str]:
    """The names of what a function stores items in."""
    items = (n for n in nodes(node) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
    yield from (n.value.id for n in items if isinstance(n.value, ast.Name))


def handed_on(node: ast.FunctionDef) -> Iterator[str]:
    """What a function gives the one that it only calls: ``return register_base(config_dict, key, module)``."""
    last = node.body[-1]
    call = last.value if isinstance(last, ast.Return | ast.Expr) else None
    yield from (n.id for n in call.args if isinstance(n, ast.Name)) if isinstance(call, ast.Call) else ()


def _is_mapping(ways: Sequence[object]) -> bool:
    """Whether a name is first given an empty dictionary."""
    value = getattr(ways[0], "value", None) if ways else None
    return isinstance(value, ast.Dict) and not value.keys


def _names(node: ast.stmt, decorator: ast.expr) -> frozenset[str]:
    given = [*decorator.args, *(k.value for k in decorator.keywords)] if isinstance(decorator, ast.Call) else []
    said = {c.value.lower() for a in given for c in walk(a) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
    return frozenset(said or {getattr(node, "name", "").lower()})


def registered_as(node: ast.ClassDef) -> list[str]:
    """The words that decorators of a class say, by which registries know it: ``@register("liif")``."""
    given = (a for d in node.decorator_list if isinstance(d, ast.Call) for a in d.args)
    return [a.value for a in given if isinstance(a, ast.Constant) and isinstance(a.value, str)]


def words(trees: Iterable[ast.AST]) -> set[str]:
    """What trees say that may be an entry's name: strings, and attributes such as ``Norm.BATCH``; in lower case."""
    return set().union(*map(words_in, trees))


@remembered
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
