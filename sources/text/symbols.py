"""Where a name of one file of a package is defined: resolution across all its files, and into packages beside it."""

from __future__ import annotations

import ast
import functools
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from sources.text.bindings import REWRITES, File, Imported, Rewrite, parse, says_nothing
from sources.text.environment import said_in
from sources.text.importable import ALIASES, FALLBACKS, SERVED, STANDARD, exports
from sources.text.paths import bound_by, module_name, parents
from sources.text.roots import Roots
from sources.text.targets import External, Here, Inner, Missing, Target, canonical, external
from sources.text.vendored import COPIED, instead

MAX_HOPS = 16  # of re-exports: more is a circle
MAX_BESIDE = 3 << 20  # characters of packages beside it that are parsed, beyond which they are let go of
MAX_PASSED_OVER = 6 << 20  # the same of files of its own that are passed over
# Replacements that take the place of a package's own file, which reads its own source text or writes other code.
WITHIN = frozenset(["torch_geometric.nn.conv.message_passing"])
# What is compiled into packages that repositories copy: with a file of such a package, and the one that is no text.
COMPILED = {"encoding.cpu": ("encoding/__init__.py", "encoding/cpu.py")}


class Package:
    """All files of a repository, parsed when first asked for, and name resolution among them."""

    rewrites: Sequence[Rewrite] = REWRITES  # what is said otherwise in each

    def __init__(
        self,
        texts: Mapping[str, str],
        replacements: Mapping[str, str] | None = None,
        examples: Mapping[str, str] = MappingProxyType({}),
        about: Iterable[str] | None = None,
        roots: Roots | None = None,
    ) -> None:
        """``replacements`` are our own stand-ins for third-party modules: dotted name -> text.

        What they lack, and what they do not serve, is taken from ``roots``, which see nothing of this package.
        ``examples`` use the package and are no part of it.  ``about`` are the files of ``texts`` that are looked
        through for what they define and tell (None: all): of the others, only what these need is parsed.
        """
        self.texts = {**examples, **texts}
        self.examples = frozenset(examples)
        self._passed_over = frozenset(texts if about is not None else ()) - frozenset(about or ())
        own = {name for path in texts for name in bound_by(path, texts)}
        if "torch/__init__.py" not in texts:
            own.discard("torch")  # ``forecasts/torch`` is another
        own -= {n for n in COPIED if not any(p.startswith(f"{n}/") for p in texts)}
        inside = WITHIN | {n for n, (owner, file) in COMPILED.items() if owner in texts and file not in texts}
        ours = {f"{n.replace('.', '/')}.py": t for n, t in (replacements or {}).items()
                if n.split(".")[0] not in own or n.endswith("._ext") or n in inside}  # fmt: skip
        self.replacements = set(ours)
        self._replaced = {folder for path in ours for folder in parents(path)}
        self.texts |= ours
        self.roots = roots or Roots()
        self.asked: Counter[str] = Counter()  # packages that definitions need, and are absent
        self.broken: dict[str, str] = {}
        self._files: dict[str, File | None] = {}
        self._known: dict[tuple[str, str], Target] = {}
        self._folders = {d for path in (*self.texts, *self.roots) for d in parents(path)}
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self.texts):
            self._by_name.setdefault(module_name(path), []).append(path)

    @functools.cached_property
    def environment(self) -> dict[str, str]:
        """The environment variables that the package sets itself, and to what, as expressions."""
        return said_in(self.texts[path] for path in self.looked_through())

    def looked_through(self) -> list[str]:
        """The files that are looked through, with replacements and examples, in order."""
        return sorted(self.texts.keys() - self._passed_over)

    def file(self, path: str) -> File | None:
        """The parsed file, or None if nothing of it parses (the reason is kept in ``broken``, also of parts)."""
        if path not in self._files:
            try:
                self._files[path] = parse(path, self._text(path), functools.partial(self.owns, path), self.rewrites)
            except ValueError as error:
                self._files[path], self.broken[path] = None, str(error)
            if (read := self._files[path]) is not None and read.unread:
                self.broken[path] = read.unread
        return self._files[path]

    def forget(self) -> bool:
        """Let go of the parsed files of packages beside this one, or passed over, where they are many; whether so.

        What names mean stays known: one is parsed again when its text is needed again.
        """
        beside = {p: file for p, file in self._files.items() if file and self._is_beside(p)}
        if sum(len(file.text) for file in beside.values()) <= (MAX_BESIDE if self.roots else MAX_PASSED_OVER):
            return False
        for path in beside:
            del self._files[path]
        return True

    def _is_beside(self, path: str) -> bool:
        """Whether a file is of another package, or one that is passed over: of these only what is needed is read."""
        return path in self._passed_over or path in self.roots

    def _text(self, path: str) -> str:
        return self.roots[path] if path in self.roots else self.texts[path]

    def owns(self, path: str, module: str) -> bool:
        """Whether a module is of the package that a file is of, or one of our replacements."""
        if path in self.roots and self._path(self.roots.base(path), module.split(".")):
            return True
        return module.split(".")[0] not in FALLBACKS and self._module(path, module, 0) is not None

    def ask(self, target: Target) -> None:
        """Note that a definition needs what a target means, if that is of a package that is absent."""
        if isinstance(target, Missing) and target.package:
            self.asked[target.package] += 1

    def lookup(self, path: str, name: str, hops: int = 0) -> Target:
        """What ``name`` means at the top level of the file ``path``."""
        key = (path, name)
        if key not in self._known:
            self._known[key] = Missing(name)  # the answer for a circle
            self._known[key] = self._lookup(path, name, hops)
        return self._known[key]

    def resolve(self, path: str, how: Imported, hops: int = 0) -> Target:
        """What an import statement in the file ``path`` binds."""
        found = self._resolve(path, how, hops)
        found = instead(path, found, self.roots, self.replacements, self._served, self.file)
        short = isinstance(found, Missing) or self._is_short(found, how)
        rooted = self._rooted(path, how.module) if short and not how.level else None
        if rooted is None:
            return found
        other = self.member(rooted, how.name, hops + 1) if how.name else Inner(rooted)
        return found if isinstance(other, Missing) else other

    def _is_short(self, found: Target, how: Imported) -> bool:
        """Whether an import of a module binds what may be the one that it is in, of which our text says something.

        ``import torch_geometric.graphgym.register as register``: what that holds is its package's own.  Of a whole
        package, ``import pytorch_lightning as pl``, ours comes first, as where one name is imported.
        """
        served = isinstance(found, Inner) and (found.file in self.replacements or found.file in self.roots)
        return served and not how.name and "." in how.module and how.module.split(".")[-1] not in SERVED

    def _resolve(self, path: str, how: Imported, hops: int) -> Target:
        inner = self._module(path, how.module, how.level)
        if inner is None:
            ours = f"{how.module.replace('.', '/')}/{how.name}.py"  # ``from torch import distributed``
            return Inner(ours) if ours in self.replacements else external(how)
        if not how.name:
            return Inner(inner)
        found = self.member(inner, how.name, hops + 1)
        others = self._namesakes(path, how.module, inner) if not how.level else iter(())
        while isinstance(found, Missing) and (other := next(others, None)) is not None:
            if not isinstance(elsewhere := self.member(other, how.name, hops + 1), Missing):
                found = elsewhere
        if not isinstance(found, Missing):
            return found
        served = not how.level and self._is_ours(inner)
        built = how.level or how.name.startswith("_") and not served  # beside the file, or ``from package import _C``
        if built and (compiled := f"{self._served(how.name)}.py") in self.replacements:
            return Inner(compiled)  # which is no text
        return Missing(f"{how.module}.{how.name}", how.module.split(".")[0] if served else found.package)

    def member(self, module: str, name: str, hops: int = 0) -> Target:
        """An attribute of a module of the package: what it defines, or a submodule."""
        found: Target = Missing(name)
        folder = posixpath.dirname(module) if module.endswith("__init__.py") else module
        below = self._path(folder, [name]) if not folder.endswith(".py") else None
        if below is not None and self._is_but_below(module, name):
            return Inner(below)
        if self._has(module):
            found = self.lookup(module, name, hops)
            if module in self.replacements and name in SERVED and isinstance(found, External):
                return Inner(module)  # not what our own text imports by that name
            if not isinstance(found, Missing):
                return found
        if module in self.replacements and (inner := f"{module.removesuffix('.py')}/{name}.py") in self.replacements:
            own = self.lookup(inner, name, hops)  # which the package binds in place of the module that defines it
            return Inner(inner) if isinstance(own, Missing) else own
        if below is None and module in self.replacements and name in SERVED:
            return Inner(module)
        if below is None and self._is_ours(module):
            dotted = module.removesuffix(".py").replace("/", ".")
            for inner in (dotted, *(f"{dotted}.{n}" for n in sorted(SERVED))):
                rooted = self._rooted(module, inner)
                own = self.member(rooted, name, hops + 1) if rooted else Missing(name)
                if not isinstance(own, Missing):
                    return own
            return Missing(f"{dotted}.{name}", dotted.split(".")[0])
        return Inner(below) if below else found

    def _is_but_below(self, module: str, name: str) -> bool:
        """Whether a name that a module of the roots has below it is bound by nothing in it, as far as one file tells.

        Such a package may import all of each of a thousand files: of these only one of that name may define it, too.
        """
        file = self.file(module) if module in self.roots else None
        stars = {star.module.split(".")[-1] for star in file.stars} if file else {name}
        return file is not None and name not in file.bindings and name not in stars

    def names(self, module: str, hops: int = 0) -> list[str]:
        """The names that a module of the package binds, with those of what it imports all of."""
        file = self.file(module) if self._has(module) and hops <= MAX_HOPS else None
        found = dict.fromkeys(file.bindings) if file else {}
        for star in file.stars if file else ():
            inner = self._module(module, star.module, star.level)
            found |= dict.fromkeys(self.names(inner, hops + 1)) if inner else {}
        return [*found]

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

    def whole(self, path: str, node: ast.Attribute | ast.Name) -> Target | None:
        """What all of ``a.b.c`` means; None where some of it is left to what a name means."""
        target, used = self.chain(path, node)
        return target if used == ast.unparse(node).count(".") else None

    def class_of(self, key: Here) -> ast.ClassDef | None:
        """The definition of a class that counts: its last."""
        file = self.file(key.file)
        return next((d for d in reversed(file.bindings[key.name] if file else []) if isinstance(d, ast.ClassDef)), None)

    def constant(self, target: Target) -> object:
        """The value of a name that is assigned one literal, else ``...``."""
        if not isinstance(target, Here) or (file := self.file(target.file)) is None:
            return ...
        how = file.bindings[target.name][0]
        if isinstance(how, ast.Assign) and isinstance(how.value, ast.Constant) and len(how.targets) == 1:
            return how.value.value
        return ...

    def imports(self, path: str, name: str) -> bool:
        """Whether an import at the top level of a file binds a name."""
        file = self.file(path)
        return file is not None and any(isinstance(how, Imported) for how in file.bindings.get(name, []))

    def is_value(self, target: Here) -> bool:
        """Whether a name is given a value by a statement, and is no class or function."""
        file = self.file(target.file)
        return file is not None and any(isinstance(how, ast.Assign) for how in file.bindings.get(target.name, []))

    def _lookup(self, path: str, name: str, hops: int) -> Target:
        if self._is_beside(path) and not self._may_bind(path, name):
            return Missing(name)  # without a look: packages import all of their files
        file = self.file(path)
        if file is None or hops > MAX_HOPS:
            return Missing(name)
        found: Target = Missing(name)
        ways = file.bindings.get(name, [])
        for how in ways:
            if not isinstance(how, Imported):
                return Here(path, name)
            found = self.resolve(path, how, hops)
            foreign = isinstance(found, Here) and path not in self.roots and found.file in self.roots
            if foreign and not says_nothing(next((w for w in ways if not isinstance(w, Imported)), None)):
                return Here(path, name)  # it does without the package
            if not isinstance(found, Missing):
                return found
        if name not in file.bindings:
            found = self._starred(file, name, hops)
        return found

    def _may_bind(self, path: str, name: str) -> bool:
        """Whether a file that ``_is_beside`` may bind a name, by a look at its text: as it is read, once it was."""
        if (read := self._files.get(path)) is None and path in self.roots:
            return self.roots.says(path, name, " import *")
        text = read.text if read is not None else self.texts[path]
        return name in text or " import *" in text

    def _starred(self, file: File, name: str, hops: int) -> Target:
        for star in file.stars:
            inner = self._module(file.path, star.module, star.level)
            inner = inner or self._rooted(file.path, star.module)
            if inner is not None and self._has(inner):
                fresh = inner in self._passed_over and inner not in self._files
                found = self.lookup(inner, name, hops + 1)
                if not isinstance(found, Missing):
                    return found
                if fresh:  # of so many files that hold what all is imported of, none is to stay
                    self._files.pop(inner, None)
            elif inner is None and exports(star.module, name):
                return canonical(External(star.module, name))
        return Missing(name)

    def _module(self, path: str, module: str, level: int) -> str | None:
        """The file or folder that a module name means in the file ``path``, None if it is not of this package."""
        if not level and (rooted := self._beside(path, module)):
            return rooted
        whole, module = module, module if level else self._served(module)
        parts = [p for p in module.split(".") if p]
        folder = posixpath.dirname(path)
        if level:
            for _ in range(level - 1):
                folder = posixpath.dirname(folder)
            return self._path(folder, parts) or ("?" if parts else folder)
        for said in (whole.split("."), parts) if path in self.roots else ():
            if own := self._path(self.roots.base(path), said):
                return own
        if f"{'/'.join(parts)}.py" in self.replacements:
            return f"{'/'.join(parts)}.py"
        if parts[0] in STANDARD and "/".join(parts) in self._replaced:
            return "/".join(parts)
        if parts[0] in ("torch", "numpy") or parts[0] in STANDARD:
            return None
        if path in self.roots:
            return self._path("", parts) if self._is_ours(self._path("", parts)) else None
        while True:
            if found := self._path(folder, parts):
                return found
            if folder in ("", "/"):
                break
            folder = posixpath.dirname(folder)
        return next(self._ending(parts), None)

    def _ending(self, parts: list[str]) -> Iterator[str]:
        """Files of the package whose path ends with a module's."""
        endings = tuple(f"/{'/'.join(parts)}{tail}" for tail in (".py", "/__init__.py"))
        return (p for p in self._by_name.get(parts[-1], []) if p.endswith(endings))

    def _namesakes(self, path: str, module: str, nearest: str) -> Iterator[str]:
        """Files and folders of the package that a module name may mean, but for the nearest.

        Those in folders above come first: scripts are run from the root, where what is beside a file does not count.
        """
        if path in self.roots or nearest in self.roots or nearest in self.replacements:
            return
        parts, folder, seen = module.split("."), posixpath.dirname(path), {nearest}
        while folder not in ("", "/"):
            folder = posixpath.dirname(folder)
            if (found := self._path(folder, parts)) and found not in seen:
                seen.add(found)
                yield found
        yield from (p for p in self._ending(parts) if p not in seen)

    def _beside(self, path: str, module: str) -> str | None:
        """The package's own file of a module, for a text of ours that stands in that package; not where we have one."""
        ours = f"{module.replace('.', '/')}.py" in self.replacements
        inside = path in self.replacements and path.split("/")[0] == module.split(".")[0]
        return self._rooted(path, module) if inside and not ours else None

    def _rooted(self, path: str, module: str) -> str | None:
        """The file or folder that a module name means in the roots, in its own first for a file of them."""
        own = self.roots.base(path)
        for base in sorted(self.roots.bases, key=lambda b: b != own):
            if found := self._found(base, module.split(".")):
                return found
        return None

    def _is_ours(self, module: str | None) -> bool:
        """Whether a module is a replacement of ours, or a folder of them."""
        return module in self.replacements or module in self._replaced

    def _has(self, path: str) -> bool:
        return path in self.texts or path in self.roots

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
        """The file or folder of a module below a folder; of another package's, our own text where there is one."""
        found = self._found(folder, parts)
        ours = self.roots.plain(found) if found in self.roots else ""
        return ours if ours in self.replacements else found

    def _found(self, folder: str, parts: list[str]) -> str | None:
        base = posixpath.join(folder, *parts)
        for candidate in (f"{base}.py", posixpath.join(base, "__init__.py")):
            if self._has(candidate):
                return candidate
        if base not in self._folders or not parts:
            return None
        inside = posixpath.join(base, f"{parts[-1]}.py")  # which the project in that folder installs
        return inside if self._has(inside) and self._has(posixpath.join(base, "setup.py")) else base
