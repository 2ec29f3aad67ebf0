"""Everything a class or function needs, from across the files of its package, as one self-contained text.

The method: follow global reads from the wanted definition; leave out methods whose names nothing in the closure
mentions, decorators that register or compile, prints, and type hints that would drag in more; take the rest over by
text range.  Where two files use one name for different things, the later one is renamed.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sources.rewrite import Edits, RewriteError, Text, remove_statements
from sources.scope import BUILTINS, Reads, reads
from sources.symbols import External, Here, Imported, Inner, Missing, Package, Target, imports

RESERVED: dict[str, Target] = {
    "torch": External("torch"), "nn": External("torch.nn"), "get_inputs": Missing("get_inputs"),
    "get_init_inputs": Missing("get_init_inputs"),
}  # fmt: skip
# Decorators without which a task computes the same.
_NOISE = re.compile(
    r"regist|jit\b|compile|docstring|deprecat|beartype|typecheck|jaxtyped|export|experimental|torch\.fx|overload|"
    r"force_fp32|auto_fp16|autocast|custom_fwd|custom_bwd|add_to|requires_|builder|configurable|gin\."
)
MAX_PIECES = 120  # definitions of one task
MAX_ROUNDS = 8  # of the fixpoint over method names; it grows, so it ends


class SliceError(ValueError):
    """A definition that cannot stand alone; ``reason`` is the group, the message the detail."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(slots=True)
class Piece:
    """One top-level statement that a task takes over."""

    key: Here
    node: ast.stmt  # whole
    view: ast.stmt  # without what is left out: reads are taken of this
    local: dict[str, Target]  # what import statements inside it bind
    reads: Reads
    needs: list[tuple[str, Target]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cut:
    """A self-contained text and what it was cut out of."""

    source: str
    name: str  # of the wanted definition, in the text
    path: str
    symbol: str
    pieces: int


class Slicer:
    """Cuts definitions out of one package. Parsed files and reads are kept between cuts."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._texts: dict[str, Text] = {}
        self._views: dict[tuple[int, frozenset[str]], tuple[ast.stmt, Reads]] = {}
        self._locals: dict[int, dict[str, Target]] = {}
        self._dead: dict[int, dict[int, ast.stmt]] = {}

    def cut(self, path: str, symbol: str) -> Cut:
        """Cut one definition.

        Raises:
            SliceError: something it needs is neither in the package nor importable, or it is too large.
        """
        root = Here(path, symbol)
        pieces = self._closure(root)
        try:
            return _Writer(self, pieces).write(root)
        except RewriteError as error:
            raise SliceError("not sliceable", str(error)) from error

    def text(self, path: str) -> Text:
        if path not in self._texts:
            self._texts[path] = Text.of(self.package.texts[path])
        return self._texts[path]

    def target(self, piece: Piece, name: str) -> Target:
        """What a global name means inside a piece."""
        return piece.local.get(name) or self.package.lookup(piece.key.file, name)

    def _closure(self, root: Here) -> dict[Here, list[Piece]]:
        used = {"forward"}
        for _ in range(MAX_ROUNDS):
            pieces: dict[Here, list[Piece]] = {}
            mentioned = set(used)
            stack = [root]
            while stack:
                key = stack.pop()
                if key in pieces:
                    continue
                if len(pieces) >= MAX_PIECES:
                    raise SliceError("too large", f"needs more than {MAX_PIECES} definitions")
                pieces[key] = self._pieces(key, used)
                for piece in pieces[key]:
                    mentioned |= piece.reads.attributes
                    stack += [t for _, t in piece.needs if isinstance(t, Here)]
            if mentioned == used:
                break
            used = mentioned
        return pieces

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
            found += [self._piece(key, extra, used) for extra in file.extras.get(key.name, []) if extra is not node]
        return found

    def _piece(self, key: Here, node: ast.stmt, used: set[str]) -> Piece:
        dropped = frozenset(_unused(node, used)) if isinstance(node, ast.ClassDef) else frozenset()
        cached = self._views.get((id(node), dropped))
        if cached is None:
            view, dead = _view(node, dropped), self.dead(key.file, node)
            found = reads(view, skip=lambda n: id(n) in dead, skip_decorator=_is_noise)
            cached = self._views[id(node), dropped] = view, found
        piece = Piece(key, node, cached[0], self._inner_imports(key.file, node), cached[1])
        piece.needs = list(self._needs(piece))
        return piece

    def dead(self, path: str, node: ast.stmt) -> dict[int, ast.stmt]:
        """Statements of a piece that a task does without: prints, imports, branches that are never taken."""
        if id(node) not in self._dead:
            found: dict[int, ast.stmt] = {}
            for inner in ast.walk(node):
                if isinstance(inner, ast.Import | ast.ImportFrom) or isinstance(inner, ast.Expr) and _is_print(inner):
                    found[id(inner)] = inner
                elif isinstance(inner, ast.If):
                    value = self._decided(path, node, inner.test)
                    block = inner.body if value is False else inner.orelse if value is True else []
                    found |= {id(s): s for s in block}
            self._dead[id(node)] = found
        return self._dead[id(node)]

    def _decided(self, path: str, node: ast.stmt, test: ast.expr) -> bool | None:
        """The outcome of a test on constants of the package such as ``has_xformers``, None if it is open."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self._decided(path, node, test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.BoolOp):
            values = [self._decided(path, node, v) for v in test.values]
            decisive = isinstance(test.op, ast.Or)
            return decisive if decisive in values else None
        if isinstance(test, ast.Compare) and ast.unparse(test).endswith((" is None", " is not None")):
            value = self._constant(path, node, test.left)
            return None if value is ... else (value is None) == isinstance(test.ops[0], ast.Is)
        value = self._constant(path, node, test)
        return bool(value) if isinstance(value, bool) or value is None else None

    def _constant(self, path: str, node: ast.stmt, name: ast.expr) -> object:
        if not isinstance(name, ast.Name):
            return ...
        here = (n for n in ast.walk(node) if isinstance(n, ast.Name | ast.arg))
        if any(n.arg == name.id if isinstance(n, ast.arg) else n.id == name.id and isinstance(n.ctx, ast.Store) for n in here):
            return ...
        return self.package.constant(self.package.lookup(path, name.id))

    def _inner_imports(self, path: str, node: ast.stmt) -> dict[str, Target]:
        if id(node) not in self._locals:
            inner = (n for n in ast.walk(node) if isinstance(n, ast.Import | ast.ImportFrom))
            found = {name: self.package.resolve(path, how) for n in inner for name, how in imports(n) if name != "*"}
            self._locals[id(node)] = found
        return self._locals[id(node)]

    def _needs(self, piece: Piece) -> Iterator[tuple[str, Target]]:
        modules = set()
        for name in dict.fromkeys(n.id for n in piece.reads.names):
            target = self.target(piece, name)
            if isinstance(target, Missing) and name in BUILTINS:
                continue
            if isinstance(target, Missing):
                absent = "." in target.name or name in piece.local or self._imported(piece.key.file, name)
                reason = "needs a package that is absent" if absent else "unresolved name"
                raise SliceError(reason, target.name)
            if isinstance(target, Inner):
                modules.add(name)
            else:
                yield name, target
        for chain, target in self.chains(piece):
            modules.discard(chain.split(".")[0])
            yield chain.split(".")[0], target
        if modules:
            raise SliceError("unresolved name", sorted(modules)[0])

    def _imported(self, path: str, name: str) -> bool:
        file = self.package.file(path)
        return file is not None and any(isinstance(how, Imported) for how in file.bindings.get(name, []))

    def chains(self, piece: Piece) -> Iterator[tuple[str, Target]]:
        """Dotted names that go through modules of the package to a definition."""
        for node in piece.reads.chains:
            target = self.chain(piece, node)
            if target is not None:
                yield ast.unparse(node), target

    def chain(self, piece: Piece, node: ast.Attribute) -> Target | None:
        """What a dotted name means if it goes through modules of the package and ends at its last attribute."""
        names = ast.unparse(node).split(".")
        target = self.target(piece, names[0])
        if not isinstance(target, Inner):
            return None
        for i, name in enumerate(names[1:]):
            if not isinstance(target, Inner):
                return None
            target = self.package.member(target.file, name)
            if isinstance(target, Missing):
                raise SliceError("unresolved name", ".".join(names[: i + 2]))
        return None if isinstance(target, Inner) else target


class _Writer:
    """Puts the pieces of one cut in order and writes them."""

    def __init__(self, slicer: Slicer, pieces: dict[Here, list[Piece]]) -> None:
        self.slicer, self.pieces = slicer, pieces
        self.names: dict[Target, str] = {}  # of definitions
        self.taken: dict[str, Target] = dict(RESERVED)
        self.imports: dict[str, External] = {}  # local name -> what it is

    def write(self, root: Here) -> Cut:
        order = self._order(root)
        for key in [root, *order]:
            if key not in self.names:
                self.names[key] = self._claim(key.name, key)
        written: set[int] = set()
        body = []
        for key in order:
            for piece in self.pieces[key]:
                if id(piece.node) not in written:
                    written.add(id(piece.node))
                    body.append(self._statement(piece))
        header = self._imports()
        source = header + "\n\n\n" + _join(body) + "\n"
        return Cut(source, self.names[root], root.file, root.name, len(order))

    def _claim(self, name: str, target: Target) -> str:
        """A name for the target: its own, or with a number where that is taken."""
        chosen, number = name, 2
        while chosen in self.taken and self.taken[chosen] != target:
            chosen, number = f"{name}_{number}", number + 1
        self.taken[chosen] = target
        return chosen

    def _order(self, root: Here) -> list[Here]:
        """Definitions before what executes them: bases, defaults and decorators, and all that a constant calls."""
        out: dict[Here, None] = {}
        seen: set[tuple[Here, bool]] = set()
        stack: list[tuple[Here, bool, bool]] = [(key, False, False) for key in reversed([root, *self.pieces])]
        while stack:
            key, deep, leaving = stack.pop()
            if leaving:
                out.setdefault(key)
                continue
            if (key, deep) in seen:
                continue
            seen.add((key, deep))
            stack.append((key, deep, True))
            later, now = self._edges(key, deep)
            stack += [(k, False, False) for k in reversed(later)] if not deep else []
            stack += [(k, d, False) for k, d in reversed(now)]
        return list(out)

    def _edges(self, key: Here, deep: bool) -> tuple[list[Here], list[tuple[Here, bool]]]:
        later: list[Here] = []
        now: list[tuple[Here, bool]] = []
        for piece in self.pieces[key]:
            constant = not isinstance(piece.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            for name, target in piece.needs:
                if not isinstance(target, Here) or target == key or target not in self.pieces:
                    continue
                if deep or constant or name in piece.reads.eager:
                    now.append((target, deep or constant))
                else:
                    later.append(target)
        return later, now

    def _statement(self, piece: Piece) -> str:
        text = self.slicer.text(piece.key.file)
        edits = Edits(text)
        left_out = {id(n) for n in _pruned(piece)} | set(self.slicer.dead(piece.key.file, piece.node))
        remove_statements(edits, piece.node, lambda s: id(s) in left_out)
        for node in ast.walk(piece.view):
            for decorator in getattr(node, "decorator_list", []):
                if _is_noise(decorator):
                    line = text.lines[decorator.lineno]
                    edits.replace(line, text.line_end(text.end(decorator)) + 1, "")
        self._hints(piece, edits)
        self._rename(piece, edits)
        return edits.cut(piece.node)

    def _rename(self, piece: Piece, edits: Edits) -> None:
        for name in piece.reads.names:
            target = self.slicer.target(piece, name.id)
            if isinstance(target, External):
                chosen = self._import(name.id, target)
            elif isinstance(target, Here):
                chosen = self.names[target]
            else:
                continue
            if chosen != name.id:
                edits.rename(name, chosen)
        for chain in piece.reads.chains:
            found = self.slicer.chain(piece, chain)
            if isinstance(found, Here):
                edits.rename(chain, self.names[found])
            elif isinstance(found, External):
                edits.rename(chain, self._import(found.name or found.module.split(".")[-1], found))
        self._rename_definition(piece, edits)

    def _rename_definition(self, piece: Piece, edits: Edits) -> None:
        node, new = piece.node, self.names[piece.key]
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name == new:
            return
        start = edits.text.start(node)
        match = re.compile(rb"(?:async\s+)?(?:class|def)\s+").match(edits.text.data, start)
        assert match is not None
        edits.replace(match.end(), match.end() + len(node.name.encode()), new)

    def _import(self, name: str, target: External) -> str:
        chosen = self._claim(name, target)
        self.imports[chosen] = target
        return chosen

    def _hints(self, piece: Piece, edits: Edits) -> None:
        """Keep type hints that need nothing but imports, drop the others."""
        text = edits.text
        record = isinstance(piece.view, ast.ClassDef) and _is_record(piece.view)
        own = {id(s) for s in piece.view.body} if isinstance(piece.view, ast.ClassDef) and record else set()
        for node in ast.walk(piece.view):
            if isinstance(node, ast.arg) and node.annotation is not None and not self._plain(piece, node.annotation):
                edits.replace(text.start(node) + len(node.arg.encode()), text.end(node.annotation), "")
            elif isinstance(node, ast.FunctionDef) and node.returns is not None and not self._plain(piece, node.returns):
                edits.replace(text.data.rfind(b"->", 0, text.start(node.returns)) - 1, text.end(node.returns), "")
            elif isinstance(node, ast.AnnAssign) and not self._plain(piece, node.annotation):
                if id(node) in own or node.value is None:
                    edits.replace(text.start(node.annotation), text.end(node.annotation), "object")
                else:
                    edits.replace(text.end(node.target), text.end(node.annotation), "")

    def _plain(self, piece: Piece, hint: ast.expr) -> bool:
        names = [n.id for n in ast.walk(hint) if isinstance(n, ast.Name)]
        texts = [n.value for n in ast.walk(hint) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        targets = {n: self.slicer.target(piece, n) for n in names}
        if texts or any(not isinstance(t, External) and n not in BUILTINS for n, t in targets.items()):
            return False
        clash = any(isinstance(t, External) and self.taken.get(n, t) != t for n, t in targets.items())
        if clash or any(isinstance(t, Here) for t in targets.values()):
            return False
        for name, target in targets.items():
            if isinstance(target, External):
                self._import(name, target)
        return True

    def _imports(self) -> str:
        lines = {"import torch"}
        members: dict[str, list[str]] = {}
        for name, target in self.imports.items():
            if target.name:
                member = target.name + (f" as {name}" if name != target.name else "")
                members.setdefault(target.module, []).append(member)
            else:
                lines.add(f"import {target.module}" + (f" as {name}" if name != target.module else ""))
        lines |= {f"from {module} import {', '.join(sorted(names))}" for module, names in members.items()}
        standard = sorted(x for x in lines if not re.match(r"(import|from) (torch|numpy)\b", x))
        others = sorted(lines - set(standard), key=lambda x: (x.startswith("from"), x))
        return "\n".join([*standard, *([""] if standard else []), *others])


def _unused(node: ast.ClassDef, used: set[str]) -> Iterator[str]:
    """Methods of a class that nothing mentions."""
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            name = statement.name
            special = name.startswith("__") and name.endswith("__") and name not in ("__repr__", "__str__")
            if not special and name not in used or name == "extra_repr":
                yield name


def _pruned(piece: Piece) -> list[ast.stmt]:
    """Methods that the piece leaves out."""
    if not isinstance(piece.node, ast.ClassDef) or not isinstance(piece.view, ast.ClassDef):
        return []
    kept = {id(s) for s in piece.view.body}
    return [s for s in piece.node.body if id(s) not in kept]


def _is_print(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "print"
    )


def _is_noise(decorator: ast.expr) -> bool:
    return _NOISE.search(ast.unparse(decorator)) is not None


def _is_record(node: ast.ClassDef) -> bool:
    """Whether a class's annotations make its fields."""
    return any("dataclass" in ast.unparse(d) for d in node.decorator_list) or any(
        ast.unparse(b).split(".")[-1] in ("NamedTuple", "TypedDict") for b in node.bases
    )


def _view(node: ast.stmt, dropped: frozenset[str]) -> ast.stmt:
    """The statement as it will be written. Nodes that stay are the file's own, so that positions hold."""
    if not isinstance(node, ast.ClassDef):
        return node
    view = copy.copy(node)
    methods = (ast.FunctionDef, ast.AsyncFunctionDef)
    view.body = [s for s in node.body if not (isinstance(s, methods) and s.name in dropped)]
    return view


def _join(body: list[str]) -> str:
    """Two blank lines around definitions, none between the lines of a run of constants."""
    out = ""
    for previous, text in zip(["", *body], body, strict=False):
        short = "\n" not in previous and "\n" not in text and previous
        out += ("\n" if short else "\n\n\n" if previous else "") + text
    return out
