"""A definition and all it needs, written as one self-contained text.

Statements are taken over by text range, so layout and comments stay.  Where two files use one name for different
things, the later one is renamed; type hints that would drag in more are dropped.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from sources.cut.alike import begun
from sources.cut.pieces import EMPTY_CLASS, KEPT_CLASS, Piece, answering, listed, locally_bound, made_of, used_names
from sources.cut.settings import without_unread_settings
from sources.cut.slicer import SliceError, Slicer
from sources.text.rewrite import Edits, RewriteError, hint_end, joined
from sources.text.scope import BUILTINS, FORMER, is_record, nodes, root_of, walk
from sources.text.targets import External, Here, Inner, Missing, Target

RESERVED: dict[str, Target] = {
    "torch": External("torch"), "nn": External("torch.nn"), "get_inputs": Missing("get_inputs"),
    "get_init_inputs": Missing("get_init_inputs"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cut:
    """A self-contained text and what it was cut out of."""

    source: str
    name: str  # of the wanted definition, in the text
    path: str
    symbol: str
    names: Mapping[Here, str] = field(default_factory=dict)  # of all definitions in it
    lacks: tuple[str, ...] = ()  # what stands in it as None, because it is of a package that is absent
    files: tuple[str, ...] = ()  # that its definitions are from


def cut(
    slicer: Slicer, path: str, symbol: str, more: Iterable[Here] = (), said: Iterable[str] = (),
    method: str = "forward", most: int = 0,
) -> Cut:  # fmt: skip
    """Cut one definition out of its package, together with ``more`` definitions that its arguments may name.

    ``said`` are strings that its arguments may hold, ``method`` is by which a class is called.  It may need so many
    definitions at ``most``; 0: as many as a task has.

    Raises:
        SliceError: something it needs is neither in the package nor importable, or it is too large.
    """
    root = Here(path, symbol)
    try:
        return _Writer(slicer, slicer.closure(root, more, said, method, most)).write(root)
    except RewriteError as error:
        raise SliceError("not sliceable", str(error)) from error


class _Writer:
    """Puts the pieces of one cut in order and writes them."""

    def __init__(self, slicer: Slicer, pieces: dict[Here, list[Piece]]) -> None:
        self.slicer, self.pieces = slicer, pieces
        self.names: dict[Target, str] = {}  # of definitions
        self.taken: dict[str, Target] = dict(RESERVED)
        self.imports: dict[str, External] = {}  # local name -> what it is
        self.lacks: dict[str, str] = {}  # names that stand for what there is not
        self.mixins: set[str] = set()  # of these, bases of classes
        self.kinds: set[str] = set()  # and ones that values are asked for, as by isinstance
        self.used: set[str] = set()  # and ones that are called, or have attributes
        self.spaces: dict[str, dict[str, str]] = {}  # modules that things are taken out of by name, and these
        self.made: dict[str, set[str]] = {}  # and classes of which instances are made; of a module, which in it

    def write(self, root: Here) -> Cut:
        order = self._order(root)
        self.names.setdefault(root, self._claim(root.name, root))
        for piece in (p for key in order for p in self.pieces[key]):
            if said_otherwise := self._said_otherwise(piece):
                for name in said_otherwise & locally_bound(piece.view):
                    self.taken.setdefault(name, Missing(name))
        for key in order:
            if key not in self.names:
                self.names[key] = self._claim(key.name, key)
        written: set[int] = set()
        body = []
        for piece in self._placed(order):
            if id(piece.node) not in written:
                written.add(id(piece.node))
                body.append(self._statement(piece))
        for name, inside in sorted(self.spaces.items()):
            made = self._import("SimpleNamespace", External("types", "SimpleNamespace"))
            body.append(f"{name} = {made}({', '.join(f'{k}={v}' for k, v in sorted(inside.items()))})")
        header = self._imports()
        absent = [
            f"# {what} is not here and not needed\n{self._stand_in(name)}" for name, what in sorted(self.lacks.items())
        ]
        source = without_unread_settings(header + "\n\n\n" + joined([*absent, *body]) + "\n")
        lacks = tuple(sorted({*self.lacks.values(), *(p.lacks for k in order for p in self.pieces[k] if p.lacks)}))
        names = {k: n for k, n in self.names.items() if isinstance(k, Here)}
        files = tuple(sorted({k.file for k in order if not all(p.lacks for p in self.pieces[k])}))
        return Cut(source, self.names[root], root.file, root.name, names, lacks, files)

    def _said_otherwise(self, piece: Piece) -> set[str]:
        """Names of definitions that a piece reads by others: as attributes of modules, or as imports renamed them."""
        taken_out = {getattr(self.slicer.chain(piece, c), "name", "") for c in piece.reads.chains}
        return taken_out | {t.name for name, t in piece.needs if isinstance(t, Here) and t.name != name}

    def _stand_in(self, name: str) -> str:
        """What stands for a name that there is not: a base or a kind, something to be made and kept, or None."""
        if text := answering(name):
            return text
        if name in self.mixins | self.kinds - self.used:
            return EMPTY_CLASS.format(name)
        if name not in self.made:
            return f"{name} = None"
        inner = sorted(self.made[name])
        if not inner:
            return KEPT_CLASS.format(name)
        kept = "\n\n".join(KEPT_CLASS.format(n) for n in inner)
        return f"class {name}:\n{textwrap.indent(kept, '    ')}"

    def _placed(self, order: list[Here]) -> Iterator[Piece]:
        """All pieces in order; in a circle, what changes a definition afterwards waits for what it needs."""
        placed: set[Here] = set()
        waiting: list[Piece] = []
        for key in order:
            placed.add(key)
            yield self.pieces[key][0]
            left = []
            for piece in [*waiting, *self.pieces[key][1:]]:
                if {t for _, t in piece.needs if isinstance(t, Here) and t in self.pieces} <= placed:
                    yield piece
                else:
                    left.append(piece)
            waiting = left
        yield from waiting

    def _claim(self, name: str, target: Target) -> str:
        """A name for the target: its own; one with a number, that is private to no class, where that is taken."""
        chosen, plain, number = name, name.strip("_") if name[:2] == "__" else name, 2
        while chosen in self.taken and self.taken[chosen] != target:
            chosen, number = f"{plain}_{number}", number + 1
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
        return self._executable(list(out))

    def _executable(self, order: list[Here]) -> list[Here]:
        """The order with what a definition executes before it, also where the two mention each other."""
        out: dict[Here, None] = {}
        seen: set[tuple[Here, bool]] = set()

        def place(key: Here, deep: bool) -> None:
            if (key, deep) not in seen:
                seen.add((key, deep))
                for needed, deeply in self._edges(key, deep)[1]:
                    place(needed, deeply)
                for needed, _ in self._edges(key, False)[1]:  # what it names is there, whatever that calls one day
                    place(needed, False)
                out.setdefault(key)

        for key in order:
            place(key, False)
        return self._after_bases(list(out))

    def _after_bases(self, order: list[Here]) -> list[Here]:
        """The order with what a definition itself reads at once before it.

        In a circle of a registry and its entries, what is to be filled first gives way to the base of a class.
        """
        out: dict[Here, None] = {}
        seen: set[Here] = set()

        def place(key: Here) -> None:
            if key not in seen:
                seen.add(key)
                first = self.pieces[key][0]
                for name, target in first.needs:
                    if isinstance(target, Here) and target in self.pieces and name in first.reads.eager:
                        place(target)
                out.setdefault(key)

        for key in order:
            place(key)
        return list(out)

    def _edges(self, key: Here, deep: bool) -> tuple[list[Here], list[tuple[Here, bool]]]:
        later: list[Here] = []
        now: list[tuple[Here, bool]] = []
        for number, piece in enumerate(self.pieces[key]):
            constant = not isinstance(piece.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            for name, target in piece.needs:
                if not isinstance(target, Here) or target == key or target not in self.pieces:
                    continue
                if number and self._executes(target, key):  # ``Base.kind = Derived``, long after both
                    later.append(target)
                elif deep or constant or name in piece.reads.eager:
                    now.append((target, deep or constant))
                    entries = self.slicer.entries.get(target, [])  # what reads a registry at once reads it filled
                    now += [(e, False) for e in entries if key not in entries and e in self.pieces]
                else:
                    later.append(target)
        return later, now

    def _executes(self, key: Here, other: Here) -> bool:
        """Whether a definition executes another one itself: its base."""
        first = self.pieces[key][0]
        return any(target == other and name in first.reads.eager for name, target in first.needs)

    def _statement(self, piece: Piece) -> str:
        if piece.lacks:
            return f"# {piece.lacks} is not here and not needed\n{piece.stand_in.format(self.names[piece.key])}"
        edits = begun(self.slicer, piece)
        self._hints(piece, edits)
        self._rename(piece, edits)
        return edits.cut(piece.node)

    def _rename(self, piece: Piece, edits: Edits) -> None:
        renamed: dict[str, str] = {}
        followed = {id(root_of(c)) for c in piece.reads.chains if self.slicer.chain(piece, c) is not None}
        for name in piece.reads.names:
            target = self.slicer.target(piece, name.id)
            if isinstance(target, Inner) and id(name) not in followed:
                if chosen := self._space(piece, name.id, target):
                    if chosen != name.id:
                        edits.rename(name, chosen)
                    continue
                target = Missing(name.id)
            if isinstance(target, External):
                chosen = self._import(name.id, target)
            elif isinstance(target, Here):
                chosen = self.names[target]
            elif isinstance(target, Missing) and name.id in FORMER:
                chosen = FORMER[name.id]
            elif isinstance(target, Missing) and name.id not in BUILTINS:
                chosen = self._lacked(piece, name, target)
            else:
                continue
            if chosen != name.id:
                edits.rename(name, chosen)
                renamed[name.id] = chosen
        for statement in nodes(piece.view):
            if isinstance(statement, ast.Global) and not renamed.keys().isdisjoint(statement.names):
                named = ", ".join(renamed.get(n, n) for n in statement.names)
                edits.replace(edits.text.start(statement), edits.text.end(statement), f"global {named}")
        for chain in piece.reads.chains:
            found = self.slicer.chain(piece, chain)
            if isinstance(found, Here):
                edits.rename(chain, self.names[found])
            elif isinstance(found, External):
                edits.rename(chain, self._import(found.name or found.module.split(".")[-1], found))
        self._rename_definition(piece, edits)

    def _lacked(self, piece: Piece, name: ast.Name, target: Missing) -> str:
        """What something that there is not is called; notes what is done with it."""
        chosen = self._claim(name.id, target)
        self.lacks[chosen] = target.name
        if (made := made_of(piece.view, name)) is not None:
            self.made.setdefault(chosen, set()).update(made)
        if chosen[:1].isupper() and id(name) not in used_names(piece.view):
            self.kinds.add(chosen)
        elif chosen[:1].isupper():
            self.used.add(chosen)
        if isinstance(piece.view, ast.ClassDef) and any(name in walk(b) for b in piece.view.bases):
            self.mixins.add(chosen)
        return chosen

    def _space(self, piece: Piece, name: str, module: Inner) -> str:
        """What a module of the package is called of which ``getattr`` takes something; "" where that is not known."""
        entries = {n: t for n, t in piece.needs if n.startswith(f"{name}.") and isinstance(t, Here)}
        if not entries and name not in listed(piece.view):
            return ""
        chosen = self._claim(name, module)
        self.spaces.setdefault(chosen, {}).update({n.split(".", 1)[1]: self.names[t] for n, t in entries.items()})
        return chosen

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
        classes = [n for n in nodes(piece.view) if isinstance(n, ast.ClassDef)]
        own = {id(s) for c in classes if is_record(c) for s in c.body}  # one inside, too
        methods = {s.name for c in classes for s in c.body if isinstance(s, ast.FunctionDef)}
        plain = partial(self._plain, piece, methods)
        for node in nodes(piece.view):
            if isinstance(node, ast.arg) and node.annotation is not None and not plain(node.annotation):
                start = text.start(node) + len(node.arg.encode())
                edits.replace(start, hint_end(text, start, node.annotation), "")
            elif isinstance(node, ast.FunctionDef) and node.returns is not None and not plain(node.returns):
                start = text.data.rfind(b"->", 0, text.start(node.returns)) - 1
                edits.replace(start, hint_end(text, start, node.returns), "")
            elif isinstance(node, ast.AnnAssign) and not plain(node.annotation):
                if id(node) in own or node.value is None:
                    edits.replace(text.start(node.annotation), text.end(node.annotation), "object")
                else:
                    start = text.end(node.target)
                    edits.replace(start, hint_end(text, start, node.annotation), "")

    def _plain(self, piece: Piece, methods: set[str], hint: ast.expr) -> bool:
        """Whether a hint needs nothing but imports; in a class with a method ``float`` that name is the method."""
        names = [n.id for n in walk(hint) if isinstance(n, ast.Name)]
        if not methods.isdisjoint(names):
            return False
        texts = [n.value for n in walk(hint) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
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
