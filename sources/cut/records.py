"""Modules whose forward is given records of the package's own that hold tensors: ``boxes: List[BoxList]``.

Where hints or a docstring tell of such records, a subclass takes the tensors and makes the records of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sources.cut.slicer import Slicer
from sources.cut.writer import Cut
from sources.cut.writer import cut as write_cut
from sources.hints.hints import Hints
from sources.hints.spelling import constructor, needed
from sources.text.scope import is_record, nodes
from sources.text.targets import Here

MAX_FIELDS = 8  # that a record requires
MAX_DEPTH = 2  # of records in records
_NO_RECORD = re.compile(r"Module|Function|Enum|Protocol|ABC|Exception|Error|Dataset|Config|Layer|Model")
_WORD, _HINTED = re.compile(r"[A-Z]\w+"), re.compile(r"[A-Z]\w*")  # classes, as texts and as type hints name them
_GIVEN = re.compile(r"(\w+(?:\.\w+)?) is not None")
_OPTIONAL = frozenset(["default", "default_factory", "init"])  # what a field may be told, so that none need be given
_LISTED = re.compile(r"(?i)\b(list|sequence|tuple|iterable)\b *(\[|of\b)")
_ENTRY = re.compile(r"(?m)^\s*(\w+)(?: ?\(([^()\n]*)\))?\s*:([^\n]*)")
_OF_TENSORS = r"(is_tensor|as_tensor|isinstance)\({0}\b|\b{0}\.(shape|size\(|dim\(|ndim|device|dtype)"


@dataclass(frozen=True, slots=True)
class _Record:
    """A class of records: where it is, and what it must be given, each field plain or a record itself."""

    key: Here
    fields: tuple[tuple[str, _Record | None], ...]

    def every(self) -> Iterator[Here]:
        yield self.key
        for _, inner in self.fields:
            yield from inner.every() if inner else ()


def of_records(
    slicer: Slicer, hints: Hints, cut: Cut, needs: list[Here], said: list[str], method: str = "forward"
) -> Cut | None:
    """The cut with a subclass that makes the records its ``method`` is given; None where it is given none.

    Raises:
        SliceError: the records cannot be cut.
    """
    path, forward = _called(hints, Here(cut.path, cut.symbol), method)
    if forward is None or forward.args.vararg:
        return None
    asserted = frozenset(_asserted(forward))
    taken = [a.arg for a in forward.args.args[1:]]
    required = taken[: len(taken) - len(forward.args.defaults)]
    only = [a.arg for a in needed(forward.args)[1]]  # by name
    only += [name for name in taken[len(required) :] if name in asserted]
    told = _told(slicer, hints, path, forward, asserted)
    known = {name: record for name, record in told if name in (*required, *only)}
    if not known:
        return None
    keys = [key for record, _ in known.values() for key in record.every()]
    cut = write_cut(slicer, cut.path, cut.symbol, list(dict.fromkeys([*needs, *keys])), said, method)
    flat: list[str] = []
    given = [_made(cut, *known[name], flat) if name in known else _plain(name, flat) for name in required]
    given += [f"{n}={_made(cut, *known[n], flat) if n in known else _plain(n, flat)}" for n in only]
    if not {"self", *(cut.names[key] for key in keys)}.isdisjoint(flat):  # a parameter would hide what is made
        return None
    name, way = f"{cut.name}OfTensors", "super().forward" if method == "forward" else f"self.{method}"
    text = (
        f"\n\nclass {name}({cut.name}):\n"
        f'    """What it takes, made of its tensors."""\n\n'
        f"    def forward(self, {', '.join(flat)}):\n"
        f"        return {way}({', '.join(given)})\n"
    )
    return replace(cut, source=cut.source + text, name=name)


def _called(hints: Hints, key: Here, method: str) -> tuple[str, ast.FunctionDef | None]:
    """A method of a class, its own or the nearest of a base's, with the file that it stands in."""
    for place, node in hints.below.lineage(key).items():
        for s in node.body:
            if isinstance(s, ast.FunctionDef) and s.name == method:
                return place.file, s
    return "", None


def _asserted(function: ast.FunctionDef) -> Iterator[str]:
    """What a function asserts to be given, ``x`` or ``x.nears``, and gives no other value itself."""
    bound = {n.id for n in nodes(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for node in nodes(function):
        said = _GIVEN.fullmatch(ast.unparse(node.test)) if isinstance(node, ast.Assert) else None
        if said and said[1].split(".")[0] not in bound:
            yield said[1]


def _plain(name: str, flat: list[str]) -> str:
    """The parameter that is handed on as it is; it is added to ``flat``, by a name that is free there."""
    while name in flat:
        name = f"{name}_"
    flat.append(name)
    return name


def _made(cut: Cut, record: _Record, listed: bool, flat: list[str]) -> str:
    """The expression that makes a record of parameters, which are added to ``flat``."""
    parts = [f"{n}={_made(cut, inner, False, flat) if inner else _plain(n, flat)}" for n, inner in record.fields]
    made = f"{cut.names[record.key]}({', '.join(parts)})"
    return f"[{made}]" if listed else made


def _told(
    slicer: Slicer, hints: Hints, path: str, forward: ast.FunctionDef, asserted: frozenset[str]
) -> Iterator[tuple[str, tuple[_Record, bool]]]:
    """The inputs that are records, or lists of them, as type hints and the docstring tell."""
    places = [*forward.args.args, *forward.args.kwonlyargs]
    said = {a.arg: (ast.unparse(a.annotation), _HINTED) for a in places if a.annotation}
    for name, kind, rest in _ENTRY.findall(ast.get_docstring(forward) or ""):
        said.setdefault(name, (kind or rest, _WORD))
    for argument, (hint, pattern) in said.items():
        given = frozenset(a.removeprefix(f"{argument}.") for a in asserted if a.startswith(f"{argument}."))
        for word in pattern.findall(hint):
            target = slicer.package.lookup(path, word)
            if not isinstance(target, Here) and len(word) > 1:  # a docstring's word need not be imported
                target = next((slicer.package.lookup(file, word) for file, _, _ in hints.calls_of(word)), target)
            if isinstance(target, Here) and (record := _record(slicer, hints, target, MAX_DEPTH, given)):
                yield argument, (record, bool(_LISTED.search(hint)))
                break


def _record(slicer: Slicer, hints: Hints, key: Here, depth: int, given: frozenset[str] = frozenset()) -> _Record | None:
    """The class as one of records that hold tensors, these fields ``given`` at any rate; None where it is none."""
    lineage = hints.below.lineage(key)
    if not lineage or any(_NO_RECORD.search(ast.unparse(b)) for node in lineage.values() for b in node.bases):
        return None
    fields: list[tuple[str, _Record | None]] = []
    tensors = 0
    for name, hint, handled in _required([*lineage.values()], given):
        words = _HINTED.findall(hint) if depth else []
        targets = [slicer.package.lookup(key.file, word) for word in words]
        kinds = (_record(slicer, hints, t, depth - 1) for t in targets if isinstance(t, Here) and t != key)
        inner = next(filter(None, kinds), None)
        tensors += inner is not None or "Tensor" in hint or handled
        fields.append((name, inner))
    return _Record(key, tuple(fields)) if tensors and len(fields) <= MAX_FIELDS else None


def _required(lineage: list[ast.ClassDef], given: frozenset[str]) -> Iterator[tuple[str, str, bool]]:
    """What a class must be given: names, hints, and whether its text handles them as tensors.

    Its constructor tells, or its base's; else the fields of a record, and of the records that it is a kind of.
    """
    for at, node in enumerate(lineage):
        if (init := constructor(node)) is not None:
            text = "\n".join(ast.unparse(s) for s in init.body)
            places, named = needed(init.args)
            for a in [*places[1:], *named]:
                hint = ast.unparse(a.annotation) if a.annotation else ""
                yield a.arg, hint, bool(re.search(_OF_TENSORS.format(re.escape(a.arg)), text))
            return
        if is_record(node):
            fields = {name: told for n in reversed(lineage[at:]) if is_record(n) for name, told in _fields(n)}
            yield from (
                (name, hint, False) for name, (hint, optional) in fields.items() if not optional or name in given
            )
            return


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, tuple[str, bool]]]:
    """The fields that a record's own text declares: names, hints, and whether they may be left out."""
    for s in node.body:
        if (
            isinstance(s, ast.AnnAssign)
            and isinstance(s.target, ast.Name)
            and "ClassVar" not in ast.unparse(s.annotation)
        ):
            optional = s.value is not None
            if isinstance(s.value, ast.Call) and ast.unparse(s.value.func).split(".")[-1] == "field":
                optional = not {k.arg for k in s.value.keywords}.isdisjoint(_OPTIONAL)
            yield s.target.id, (ast.unparse(s.annotation), optional)
