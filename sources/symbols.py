"""Where a name of one file of a package is defined: symbol tables of all its files, and resolution across them.

Nothing is executed or imported; text that does not parse has no symbols.
"""

from __future__ import annotations

import ast
import posixpath
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sources.desugar import main_as_function, with_plain_imports, without_arguments
from sources.importable import ALIASES, ALLOWED, FALLBACKS, SERVED, STANDARD, SUBMODULES, UNUSABLE, exports

MAX_HOPS = 16  # of re-exports: more is a circle


@dataclass(frozen=True, slots=True)
class Here:
    """Defined at the top level of a file of the package."""

    file: str
    name: str


@dataclass(frozen=True, slots=True)
class Inner:
    """A module of the package itself: a file, or a folder without ``__init__.py``."""

    file: str


@dataclass(frozen=True, slots=True)
class External:
    """A module that a task may import, or a name in one."""

    module: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that is neither here nor importable."""

    name: str


Target = Here | Inner | External | Missing


@dataclass(frozen=True, slots=True)
class Imported:
    """The binding of an import statement: ``from module import name``, or ``import module``."""

    module: str
    level: int = 0
    name: str = ""


@dataclass(slots=True)
class File:
    """One parsed file: what its top level binds."""

    path: str
    text: str
    tree: ast.Module
    own: frozenset[str]
    bindings: dict[str, list[ast.stmt | Imported]] = field(default_factory=dict)
    stars: list[Imported] = field(default_factory=list)
    extras: dict[str, list[ast.stmt]] = field(default_factory=dict)  # later statements that change a name's value

    def bind(self, name: str, how: ast.stmt | Imported) -> None:
        self.bindings.setdefault(name, []).append(how)


def parse(path: str, text: str, own: frozenset[str] = frozenset()) -> File:
    """Parse a file and fill its symbol table. ``own`` are the top-level modules of its package.

    Raises:
        ValueError: it is not Python 3; the message is one line.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = main_as_function(text)
            tree = ast.parse(text)
            for rewrite in (with_plain_imports, without_arguments):
                if (plain := rewrite(text, tree)) is not text:
                    text, tree = plain, ast.parse(plain)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{type(error).__name__}: {error}".splitlines()[0]) from error
    file = File(path, text, tree, own)
    _bind(file, tree.body)
    return file


def _bind(file: File, body: Iterable[ast.stmt]) -> None:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            file.bind(node.name, node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for name, how in imports(node):
                if name == "*":
                    file.stars.append(how)
                else:
                    file.bind(name, how)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            _assignment(file, node)
        elif isinstance(node, ast.AugAssign):
            file.extras.setdefault(_root(node.target), []).append(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            if isinstance(node.value.func, ast.Attribute):  # what it may add to its root is for ``sources.slicer``
                file.extras.setdefault(_root(node.value.func), []).append(node)
        elif isinstance(node, ast.If):
            _conditional(file, node)
        elif isinstance(node, ast.Try):
            handlers = [s for h in node.handlers for s in h.body]
            fails = any(_foreign(file, s) for s in node.body)
            _bind(file, [*handlers, *node.body] if fails else [*node.body, *node.orelse, *handlers])
        elif isinstance(node, ast.With):
            _bind(file, node.body)


def _foreign(file: File, node: ast.stmt) -> bool:
    """Whether a statement imports a package that a task cannot have: what handles its absence counts then."""
    if isinstance(node, ast.Import):
        names = [a.name for a in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        names = [node.module or ""]
    else:
        return False
    known = (ALLOWED | STANDARD | file.own) - FALLBACKS
    return any(name.split(".")[0] not in known for name in names)


def _assignment(file: File, node: ast.Assign | ast.AnnAssign) -> None:
    if node.value is None:
        return
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if isinstance(target, ast.Attribute | ast.Subscript):
            file.extras.setdefault(_root(target), []).append(node)
        else:
            for name in ast.walk(target):
                if isinstance(name, ast.Name):
                    file.bind(name.id, node)


def _conditional(file: File, node: ast.If) -> None:
    """An if-else of assignments is one statement that binds its names; other branches are read one after the other."""
    test = ast.unparse(node.test)
    if "__name__" in test and "__main__" in test:
        return
    if node.orelse and all(isinstance(s, ast.Assign | ast.Pass) for s in [*node.body, *node.orelse]):
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                file.bind(name.id, node)
    elif "TYPE_CHECKING" not in test:
        _bind(file, [*node.body, *node.orelse])


def imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Imported]]:
    """The names that an import statement binds."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, Imported(node.module or "", node.level, alias.name)
        elif alias.asname:
            yield alias.asname, Imported(alias.name)
        else:
            yield alias.name.split(".")[0], Imported(alias.name.split(".")[0])


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


class Package:
    """All files of a repository, parsed when first asked for, and name resolution among them."""

    def __init__(
        self,
        texts: Mapping[str, str],
        replacements: Mapping[str, str] | None = None,
        examples: Mapping[str, str] = MappingProxyType({}),
        about: Iterable[str] | None = None,
    ) -> None:
        """``replacements`` are our own stand-ins for third-party modules: dotted name -> text.

        ``examples`` use the package and are no part of it.  ``about`` are the files of ``texts`` that are looked
        through for what they define and tell (None: all): of the others, only what these need is parsed.
        """
        self.texts = {**examples, **texts}
        self.examples = frozenset(examples)
        self._passed_over = frozenset(texts if about is not None else ()) - frozenset(about or ())
        own = {part.removesuffix(".py") for path in texts for part in path.split("/")[:3]}
        ours = {f"{n.replace('.', '/')}.py": t for n, t in (replacements or {}).items() if n.split(".")[0] not in own}
        self.replacements = set(ours)
        self.texts |= ours
        self.broken: dict[str, str] = {}
        self._files: dict[str, File | None] = {}
        self._known: dict[tuple[str, str], Target] = {}
        self._folders = {d for path in self.texts for d in _parents(path)}
        self.own = frozenset(part.removesuffix(".py") for path in self.texts for part in path.split("/"))
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self.texts):
            self._by_name.setdefault(_module_name(path), []).append(path)

    def looked_through(self) -> list[str]:
        """The files that are looked through, with replacements and examples, in order."""
        return sorted(self.texts.keys() - self._passed_over)

    def file(self, path: str) -> File | None:
        """The parsed file, or None if it does not parse (the reason is kept in ``broken``)."""
        if path not in self._files:
            try:
                self._files[path] = parse(path, self.texts[path], self.own)
            except ValueError as error:
                self._files[path], self.broken[path] = None, str(error)
        return self._files[path]

    def lookup(self, path: str, name: str, hops: int = 0) -> Target:
        """What ``name`` means at the top level of the file ``path``."""
        key = (path, name)
        if key not in self._known:
            self._known[key] = Missing(name)  # the answer for a circle
            self._known[key] = self._lookup(path, name, hops)
        return self._known[key]

    def resolve(self, path: str, how: Imported, hops: int = 0) -> Target:
        """What an import statement in the file ``path`` binds."""
        inner = self._module(path, how.module, how.level)
        if inner is None:
            return _external(how)
        if not how.name:
            return Inner(inner)
        found = self.member(inner, how.name, hops + 1)
        return Missing(f"{how.module}.{how.name}") if isinstance(found, Missing) else found

    def member(self, module: str, name: str, hops: int = 0) -> Target:
        """An attribute of a module of the package: what it defines, or a submodule."""
        if module in self.texts:
            found = self.lookup(module, name, hops)
            if not isinstance(found, Missing):
                return found
        folder = posixpath.dirname(module) if module.endswith("__init__.py") else module
        below = self._path(folder, [name]) if not folder.endswith(".py") else None
        if below is None and module in self.replacements and name in SERVED:
            return Inner(module)
        return Inner(below) if below else Missing(name)

    def chain(self, path: str, node: ast.Attribute | ast.Name) -> tuple[Target, int]:
        """Follow ``a.b.c`` as far as modules go: what it means, and how many attributes were used up."""
        names: list[str] = []
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            names.insert(0, root.attr)
            root = root.value
        target = self.lookup(path, root.id) if isinstance(root, ast.Name) else Missing("")
        for used, name in enumerate(names):
            if isinstance(target, Inner):
                target = self.member(target.file, name)
            elif isinstance(target, External) and not target.name:
                target = canonical(External(target.module, name))
            else:
                return target, used
        return target, len(names)

    def constant(self, target: Target) -> object:
        """The value of a name that is assigned one literal, else ``...``."""
        if not isinstance(target, Here) or (file := self.file(target.file)) is None:
            return ...
        how = file.bindings[target.name][0]
        if isinstance(how, ast.Assign) and isinstance(how.value, ast.Constant) and len(how.targets) == 1:
            return how.value.value
        return ...

    def _lookup(self, path: str, name: str, hops: int) -> Target:
        file = self.file(path)
        if file is None or hops > MAX_HOPS:
            return Missing(name)
        found: Target = Missing(name)
        for how in file.bindings.get(name, []):
            if not isinstance(how, Imported):
                return Here(path, name)
            found = self.resolve(path, how, hops)
            if not isinstance(found, Missing):
                return found
        if name not in file.bindings:
            found = self._starred(file, name, hops)
        return found

    def _starred(self, file: File, name: str, hops: int) -> Target:
        for star in file.stars:
            inner = self._module(file.path, star.module, star.level)
            if inner is not None and inner in self.texts:
                found = self.lookup(inner, name, hops + 1)
                if not isinstance(found, Missing):
                    return found
            elif inner is None and exports(star.module, name):
                return canonical(External(star.module, name))
        return Missing(name)

    def _module(self, path: str, module: str, level: int) -> str | None:
        """The file or folder that a module name means in the file ``path``, None if it is not of this package."""
        module = module if level else self._served(module)
        parts = [p for p in module.split(".") if p]
        folder = posixpath.dirname(path)
        if level:
            for _ in range(level - 1):
                folder = posixpath.dirname(folder)
            return self._path(folder, parts) or ("?" if parts else None)
        if parts[0] in ("torch", "numpy") or parts[0] in STANDARD:
            return None
        while True:
            if found := self._path(folder, parts):
                return found
            if folder in ("", "/"):
                break
            folder = posixpath.dirname(folder)
        endings = tuple(f"/{'/'.join(parts)}{tail}" for tail in (".py", "/__init__.py"))
        return next((p for p in self._by_name.get(parts[-1], []) if p.endswith(endings)), None)

    def _served(self, module: str) -> str:
        """The replacement of ours that serves a third-party module, or one that it is in; else the module itself."""
        parts = module.split(".")
        for used in range(len(parts), 0, -1):
            prefix = ".".join(parts[:used])
            name = ALIASES.get(prefix, prefix)
            if f"{name.replace('.', '/')}.py" in self.replacements:
                return name
        return module

    def _path(self, folder: str, parts: list[str]) -> str | None:
        base = posixpath.join(folder, *parts)
        for candidate in (f"{base}.py", posixpath.join(base, "__init__.py")):
            if candidate in self.texts:
                return candidate
        return base if base in self._folders and parts else None


def canonical(target: External) -> External:
    """One spelling for a module that is also an attribute of another."""
    whole = f"{target.module}.{target.name}"
    return External(whole) if whole in SUBMODULES else target


def _external(how: Imported) -> Target:
    module, name = how.module, how.name
    if module == "typing_extensions":
        module = "typing"
    if module.split(".")[0] not in ALLOWED or how.level or module.startswith(UNUSABLE):
        return Missing(f"{module}.{name}" if name else module)
    return canonical(External(module, name)) if name else External(module)


def _parents(path: str) -> Iterator[str]:
    while (path := posixpath.dirname(path)) not in ("", "/"):
        yield path


def _module_name(path: str) -> str:
    whole = path.removesuffix("/__init__.py").removesuffix(".py")
    return posixpath.basename(whole)
