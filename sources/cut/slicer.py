"""What a class or function needs, from across the files of its package: the statements that define it.

The method: follow global reads from the wanted definition; leave out methods whose names nothing in the closure
mentions, decorators that register or compile, prints, and branches on packages that are absent.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator

from sources.cut import by_name
from sources.cut.cutpoints import Framework
from sources.cut.decided import decided
from sources.cut.pieces import (
    FROM_FILE,
    KEPT_CLASS,
    NO_STATE,
    NO_TABLE,
    NO_WEIGHTS,
    NO_WISH,
    OF_WEIGHTS,
    TRAINED,
    WISHING,
    Piece,
    at_once,
    copied,
    is_debugging,
    is_noise,
    listed,
    only_adds,
    optional,
    reads_file,
    stand_in_for,
    swept,
    taken_from,
    unused,
    view_of,
    weights_of,
    without_dependants,
)
from sources.text.bindings import Imported, imports
from sources.text.danger import harmful
from sources.text.desugar import MAIN, NAMED
from sources.text.registries import Registries, asked_for, foreign, words
from sources.text.rewrite import Text
from sources.text.scope import BUILTINS, FORMER, Reads, nodes, reads, root_of
from sources.text.symbols import Package
from sources.text.targets import USUAL, Here, Inner, Missing, Target
from sources.text.weights import fills_weights, left_out

ABSENT = "needs a package that is absent"
_CLASS_NAME = re.compile(r"[A-Z]\w*[a-z]\w*")
_CONVERTS = re.compile(r"checkpoint_filter_fn|_?(load|convert|filter|remap)_\w*(weights|checkpoint|state_dict)\w*")
MAX_PIECES, TOO_MANY = 300, "too large"  # definitions of one task
MAX_FOREIGN = 80  # that it takes of another package for one name
MAX_ROUNDS = 8  # of the fixpoint over method names, and of the one over registries; both grow, so they end
# Names by which the search asks for layers, and registries often know them.
_USUAL = frozenset(["batch", "instance", "relu", "prelu", "leakyrelu", "conv", "avg", "max"])


class SliceError(ValueError):
    """A definition that cannot stand alone; ``reason`` is the group, the message the detail."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class Slicer:
    """Cuts definitions out of one package. Parsed files and reads are kept between cuts."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._texts: dict[str, Text] = {}
        self._views: dict[tuple[int, frozenset[str], bool], tuple[ast.stmt, Reads]] = {}
        self.changes: dict[tuple[int, bool], list[tuple[int, int, bytes]]] = {}  # of views, see ``sources.cut.alike``
        self._needed: dict[tuple[Here, int, bool], list[tuple[str, Target]] | tuple[str, str]] = {}  # or an error
        self._registries = Registries(package)
        self._said: frozenset[str] = frozenset()  # words that the last closure's arguments say
        self._of_all: set[str] = set()  # and that all of it says
        self._named: set[str] | None = None  # words by which tables are known that one which is too large needs
        self._registering: set[int] = set()  # decorators that the last closure needs, by id
        self.entries: dict[Here, list[Here]] = {}  # definitions that these put into a registry
        self._locals: dict[int, dict[str, Target]] = {}
        self._dead: dict[int, dict[int, ast.stmt]] = {}
        self._heavy: dict[Here, bool] = {}  # definitions of other packages that need too much there

    def forget(self) -> None:
        """Let go of what was parsed beside what is cut, where that is much: not while pieces of a closure are in use.

        With it goes what is known by a statement's id, which another one may get.
        """
        if self.package.forget():
            self._registries.forget()
            for known in (self._texts, self._views, self.changes, self._needed, self._locals, self._dead):
                known.clear()

    def text(self, path: str) -> Text:
        if path not in self._texts:
            file = self.package.file(path)
            assert file is not None  # what does not parse defines nothing
            self._texts[path] = Text.of(file.text)
        return self._texts[path]

    def target(self, piece: Piece, name: str) -> Target:
        """What a global name means inside a piece."""
        if name == NAMED:
            return Inner(NAMED)
        found = piece.local.get(name) or self.package.lookup(piece.key.file, name)
        return USUAL.get(name, found) if found == Missing(name) else self._light(piece, found)

    def _light(self, piece: Piece, target: Target) -> Target:
        """The target; of another package only if a task can take over all that it needs there."""
        roots = self.package.roots
        if not (isinstance(target, Here) and target.file in roots):
            return target
        if roots.base(piece.key.file) == roots.base(target.file):
            return target
        if target not in self._heavy:
            self._heavy[target] = self._needs_much(target)
        return Missing(f"{roots.inner(target.file)[0]}.{target.name}") if self._heavy[target] else target

    def _needs_much(self, root: Here) -> bool:
        seen, stack = {root}, [root]
        while stack and len(seen) <= MAX_FOREIGN:
            found = self._pieces_or_none(stack.pop(), {"forward"})
            new = {t for piece in found for _, t in piece.needs if isinstance(t, Here)} - seen
            seen |= new
            stack += new
        return len(seen) > MAX_FOREIGN

    def closure(
        self, root: Here, more: Iterable[Here] = (), said: Iterable[str] = (), method: str = "forward",
        most: int = 0,
    ) -> dict[Here, list[Piece]]:  # fmt: skip
        """All statements that a definition needs, and those that ``more`` definitions need.

        Of registries in it, the entries that it names are taken, too, and those that are ``said`` elsewhere.  Of a
        class is needed what its ``method`` needs.  There may be ``most`` definitions; 0: as many as in a task.

        Raises:
            SliceError: something it needs is neither in the package nor importable, or it is too large.
        """
        self._registering, self.entries, known = set(), {}, {*map(str.lower, said), *_USUAL}
        self._said, self._of_all, self._named = frozenset(known), set(), None
        most = most or MAX_PIECES
        wanted: dict[Here, None] = dict.fromkeys(more)
        try:
            pieces = self._closure(root, wanted, method, most)
        except SliceError as error:
            if error.reason != TOO_MANY:
                raise
            self._named = known | words(p.view for p in self._pieces(root, {"forward", method}))
            pieces = self._closure(root, wanted, method, most)
        if any(self._lists(p) for found in pieces.values() for p in found):
            self._of_all = words(p.view for found in pieces.values() for p in found)
            pieces = self._closure(root, wanted, method, most)
        for _ in range(MAX_ROUNDS):
            containers = [k for k, found in pieces.items() if not isinstance(found[0].node, ast.FunctionDef)]
            every = [p for found in pieces.values() for p in found]
            named, swept_of = known | words(p.view for p in every), ((p, n) for p in every for n in swept(p.view))
            whole = {self.chain(p, n) if isinstance(n, ast.Attribute) else self.target(p, n.id) for p, n in swept_of}
            asked = asked_for(((p.view, functools.partial(self.target, p)) for p in every), containers)
            entries = self._registries.wanted(containers, named, whole, asked)
            entries = [e for e in entries if e.key not in {root, *wanted}]
            if not entries:
                break
            before = set(self._registering), {k: [*found] for k, found in self.entries.items()}
            for entry in entries:
                self._registering.add(id(entry.decorator))
                self.entries.setdefault(entry.container, []).append(entry.key)
            wanted |= dict.fromkeys(e.key for e in entries)
            try:
                pieces = self._closure(root, wanted, method, most)
            except SliceError:  # it may do without what goes by a word that it says
                self._registering, self.entries = before
                break
        return pieces

    def _closure(self, root: Here, more: Iterable[Here], method: str, most: int) -> dict[Here, list[Piece]]:
        used = {"forward", method}
        for _ in range(MAX_ROUNDS):
            pieces: dict[Here, list[Piece]] = {}
            mentioned = set(used)
            stack = [*more, root]
            while stack:
                key = stack.pop()
                if key in pieces:
                    continue
                if len(pieces) >= most:
                    raise SliceError(TOO_MANY, f"needs more than {most} definitions")
                pieces[key] = self._pieces(key, used) if key == root else self._pieces_or_none(key, used)
                for piece in pieces[key]:
                    mentioned |= piece.reads.attributes
                    stack += [t for _, t in piece.needs if isinstance(t, Here)]
            if mentioned == used:
                break
            used = mentioned
        return without_dependants(pieces)

    def _pieces_or_none(self, key: Here, used: set[str]) -> list[Piece]:
        """What defines ``key``, or a stand-in where that cannot be had: running shows whether it is used."""
        try:
            if key.file in self.package.roots and _CONVERTS.fullmatch(key.name):
                return [stand_in_for(key, "what converts trained weights", NO_STATE)]
            if key.file in self.package.roots and key.name == WISHING:
                return [stand_in_for(key, TRAINED, NO_WISH)]
            found = self._pieces(key, used)
            if fills_weights(found[0].node):
                return [stand_in_for(key, "what loads trained weights", NO_STATE)]
            if names := weights_of(found[0].node):
                return [stand_in_for(key, TRAINED, NO_WEIGHTS.format(" = ".join(names)))]
            if reads_file(found[0].node):
                return [stand_in_for(key, FROM_FILE)]
            plain = (p.view for p in found if not isinstance(p.node, ast.ClassDef))
            if misuse := next(filter(None, map(harmful, plain)), ""):
                return [stand_in_for(key, f"what uses {misuse}")]
            return found
        except SliceError as error:
            if OF_WEIGHTS.fullmatch(key.name):
                return [stand_in_for(key, TRAINED, NO_TABLE)]
            file = self.package.file(key.file)
            a_class = any(isinstance(how, ast.ClassDef) for how in file.bindings[key.name]) if file else False
            return [stand_in_for(key, str(error), KEPT_CLASS if a_class or _CLASS_NAME.fullmatch(key.name) else "")]

    def _pieces(self, key: Here, used: set[str]) -> list[Piece]:
        """The statement that defines ``key``, and those that change it afterwards."""
        file = self.package.file(key.file)
        assert file is not None
        node = next(how for how in file.bindings[key.name] if not isinstance(how, Imported))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            # the last definition of a name is the one that counts, unless it is a fallback inside a try
            node = [h for h in file.bindings[key.name] if type(h) is type(node)][-1]
        found = [self._piece(key, node, used)]
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for extra in file.extras.get(key.name, []):
                if extra is node or isinstance(extra, ast.Expr | ast.For) and self._fails(key, extra, used):
                    continue
                if self._named is None or not foreign(self.package, key.file, extra, self._named):
                    found.append(self._piece(key, extra, used))
        return found

    def _fails(self, key: Here, change: ast.Expr | ast.For, used: set[str]) -> bool:
        """Whether a call on a name's value does not change it, or that or a loop needs what there is not."""
        if not only_adds(change) or harmful(change):
            return True
        try:
            self._piece(key, change, used)
        except SliceError:
            return True
        return False

    def _piece(self, key: Here, node: ast.stmt, used: set[str]) -> Piece:
        dropped = unused(node, used) if isinstance(node, ast.ClassDef) else frozenset()
        registers = self.registers(node)
        cached = self._views.get((id(node), dropped, registers))
        if cached is None:
            view, dead = view_of(node, dropped), self.dead(key.file, node)
            found = reads(view, skip=lambda n: id(n) in dead, skip_decorator=lambda d: self.is_noise(key.file, d))
            cached = self._views[id(node), dropped, registers] = view, found
        piece = Piece(key, node, cached[0], self._inner_imports(key.file, node), cached[1])
        piece.needs = self._remembered_needs(piece, registers)
        return piece

    def _remembered_needs(self, piece: Piece, registers: bool) -> list[tuple[str, Target]]:
        """The same of every closure, but for what is looked up by words that another one may say otherwise."""
        if by_name.looks_up(piece.view):
            return list(self._needs(piece))
        key = piece.key, id(piece.view), registers
        if key not in self._needed:
            try:
                self._needed[key] = list(self._needs(piece))
            except SliceError as error:
                self._needed[key] = error.reason, str(error)
        if isinstance(found := self._needed[key], tuple):
            raise SliceError(*found)
        return found

    def registers(self, node: ast.stmt) -> bool:
        """Whether the last closure needs a decorator of a definition, which puts it into a registry."""
        return any(id(d) in self._registering for d in getattr(node, "decorator_list", ()))

    def dead(self, path: str, node: ast.stmt) -> dict[int, ast.stmt]:
        """Statements of a piece that a task does without: prints, imports, branches never taken, what loads weights."""
        if id(node) not in self._dead:
            found: dict[int, ast.stmt] = {id(s): s for s in left_out(node)}
            quiet = getattr(node, "name", "") != MAIN  # what a script prints is the result of what we want to see
            for inner in nodes(node):
                idle = quiet and is_debugging(inner) or self._idle(path, inner)
                if isinstance(inner, ast.Import | ast.ImportFrom) or idle:
                    assert isinstance(inner, ast.stmt)
                    found[id(inner)] = inner
                elif isinstance(inner, ast.If):
                    value = decided(self.package, path, node, inner.test)
                    block = inner.body if value is False else inner.orelse if value is True else []
                    found |= {id(s): s for s in block}
            self._dead[id(node)] = found
        return self._dead[id(node)]

    def _inner_imports(self, path: str, node: ast.stmt) -> dict[str, Target]:
        if id(node) not in self._locals:
            inner = (n for n in nodes(node) if isinstance(n, ast.Import | ast.ImportFrom))
            found = {name: self.package.resolve(path, how) for n in inner for name, how in imports(n) if name != "*"}
            self._locals[id(node)] = found
        return self._locals[id(node)]

    def _needs(self, piece: Piece) -> Iterator[tuple[str, Target]]:
        modules, said = set(), self._said | self._of_all
        yield from by_name.own(self.package, piece.key.file, piece.view, said).items()
        for name in dict.fromkeys(n.id for n in piece.reads.names):
            target = self.target(piece, name)
            self.package.ask(target)
            if isinstance(target, Missing) and (name in BUILTINS or name in FORMER):
                continue
            if target == piece.key and self._copies(piece, name):
                raise SliceError(ABSENT, name)  # ``Name = Name``: a copy of something imported
            if isinstance(target, Missing):
                absent = "." in target.name or name in piece.local or self.package.imports(piece.key.file, name)
                if name in at_once(piece) or not absent and not optional(piece, name):
                    reason = ABSENT if absent else "unresolved name"
                    raise SliceError(reason, target.name)
            if isinstance(target, Inner):
                modules.add(name)
            else:
                yield name, target
        for chain, target in self.chains(piece):
            modules.discard(chain.split(".")[0])
            yield chain.split(".")[0], target
        for name in sorted(modules):
            entries = by_name.taken_out(self.package, name, self.target(piece, name), piece.view, said)
            yield from entries.items()
            if not entries and name not in listed(piece.view):
                yield name, Missing(name)

    def _lists(self, piece: Piece) -> bool:
        """Whether a piece looks through a module of the package, or through all that its words may name."""
        return any(n.id in (NAMED, "globals") for n in piece.reads.names) or any(
            isinstance(self.target(piece, name), Inner) for name in listed(piece.view) | taken_from(piece.view)
        )

    def _copies(self, piece: Piece, name: str) -> bool:
        """Whether a piece gives a name its first value from the same name, which something else binds."""
        file = self.package.file(piece.key.file)
        again = file is not None and any(piece.node is extra for extra in file.extras.get(piece.key.name, ()))
        return not again and isinstance(piece.node, ast.Assign) and name in copied(piece.node)

    def is_noise(self, path: str, decorator: ast.expr) -> bool:
        """Whether a task computes the same without a decorator, or it is of a package that is absent."""
        if id(decorator) in self._registering:
            return False
        root = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(root, ast.Attribute) and root.attr in ("setter", "getter", "deleter"):
            return False  # of a property: nothing that an import binds
        named = isinstance(root, ast.Name | ast.Attribute)
        target = self.package.chain(path, root)[0] if isinstance(root, ast.Name | ast.Attribute) else Missing("")
        if isinstance(target, Here) and isinstance(self.package, Framework) and self.package.cuts(target):
            return target.name in self.package.noise
        absent = isinstance(target, Missing) and bool(target.name) and target.name not in BUILTINS
        return is_noise(decorator) or named and (absent or isinstance(target, Here) and self._misuses(target))

    def _misuses(self, key: Here) -> bool:
        """Whether a function of the package touches the system: None stands for it, which decorates nothing."""
        file = self.package.file(key.file)
        found = (how for how in file.bindings[key.name] if isinstance(how, ast.FunctionDef)) if file else iter(())
        node = next(found, None)
        return node is not None and bool(harmful(node))

    def _idle(self, path: str, node: ast.AST) -> bool:
        """Whether a statement only calls a function that touches the system: it sets up logs, or saves things."""
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return False
        target = self.package.lookup(path, call.func.id)
        return isinstance(target, Here) and self._misuses(target)

    def chains(self, piece: Piece) -> Iterator[tuple[str, Target]]:
        """Dotted names that go through modules of the package to a definition."""
        for node in piece.reads.chains:
            target = self.chain(piece, node)
            if target is not None:
                yield ast.unparse(node), target

    def chain(self, piece: Piece, node: ast.Attribute) -> Target | None:
        """What a dotted name means if it goes through modules of the package and ends at its last attribute."""
        root = root_of(node)
        target = self.target(piece, root.id) if isinstance(root, ast.Name) else None
        if not isinstance(target, Inner):
            return None
        for name in ast.unparse(node).split(".")[1:]:
            if not isinstance(target, Inner):
                return None
            target = self.package.member(target.file, name)
            if isinstance(target, Missing):
                self.package.ask(target)
                return None
        target = self._light(piece, target)
        return None if isinstance(target, Inner | Missing) else target
