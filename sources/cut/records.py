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
from sources.text.scope import is_record, nodes
from sources.text.symbols import Package
from sources.text.targets import Here

MAX_FIELDS = 8  # that a record requires
MAX_DEPTH = 2  # of records in records
_NO_RECORD = re.compile(r"Module|Function|Enum|Protocol|ABC|Exception|Error|Dataset|Config|Layer|Model")
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


def of_records(slicer: Slicer, hints: Hints, cut: Cut, needs: list[Here], said: list[str]) -> Cut | None:
    """The cut with a subclass that makes the records its forward is given; None where it is given none.

    Raises:
        SliceError: the records cannot be cut.
    """
    path, forward = _forward(slicer.package, Here(cut.path, cut.symbol))
    if forward is None or forward.args.vararg or forward.args.kwonlyargs:
        return None
    taken = [a.arg for a in forward.args.args[1:]]
    required = taken[: len(taken) - len(forward.args.defaults)]
    known = {name: told for name, told in _told(slicer, hints, path, forward) if name in required}
    if not known:
        return None
    keys = [key for record, _ in known.values() for key in record.every()]
    cut = write_cut(slicer, cut.path, cut.symbol, list(dict.fromkeys([*needs, *keys])), said)
    flat: list[str] = []
    given = [_made(cut, *known[name], flat) if name in known else _plain(name, flat) for name in required]
    if not {"self", *(cut.names[key] for key in keys)}.isdisjoint(flat):  # a parameter would hide what is made
        return None
    name = f"{cut.name}OfTensors"
    text = (
        f"\n\nclass {name}({cut.name}):\n"
        f'    """What it takes, made of its tensors."""\n\n'
        f"    def forward(self, {', '.join(flat)}):\n"
        f"        return super().forward({', '.join(given)})\n"
    )
    return replace(cut, source=cut.source + text, name=name)


def _forward(package: Package, key: Here) -> tuple[str, ast.FunctionDef | None]:
    """The forward of a class, its own or the nearest of a base's, with the file that it stands in."""
    stack, seen = [key], set[Here]()
    while stack:
        place = stack.pop(0)
        node = package.class_of(place) if place not in seen else None
        seen.add(place)
        for s in node.body if node else ():
            if isinstance(s, ast.FunctionDef) and s.name == "forward":
                return place.file, s
        named = (b for b in (node.bases if node else ()) if isinstance(b, ast.Name | ast.Attribute))
        stack += [target for b in named if isinstance(target := package.chain(place.file, b)[0], Here)]
    return "", None


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
    slicer: Slicer, hints: Hints, path: str, forward: ast.FunctionDef
) -> Iterator[tuple[str, tuple[_Record, bool]]]:
    """The inputs that are records, or lists of them, as type hints and the docstring tell."""
    said = {a.arg: ast.unparse(a.annotation) for a in forward.args.args if a.annotation}
    for name, kind, rest in _ENTRY.findall(ast.get_docstring(forward) or ""):
        said.setdefault(name, kind or rest)
    for argument, hint in said.items():
        for word in re.findall(r"[A-Z]\w+", hint):
            target = slicer.package.lookup(path, word)
            if not isinstance(target, Here):  # a docstring's word need not be imported
                target = next((slicer.package.lookup(file, word) for file, _, _ in hints.calls_of(word)), target)
            if isinstance(target, Here) and (record := _record(slicer, target, MAX_DEPTH)):
                yield argument, (record, bool(_LISTED.search(hint)))
                break


def _record(slicer: Slicer, key: Here, depth: int) -> _Record | None:
    """The class as one of records that hold tensors; None where it is none."""
    node = slicer.package.class_of(key)
    if node is None or any(_NO_RECORD.search(ast.unparse(b)) for b in node.bases):
        return None
    fields: list[tuple[str, _Record | None]] = []
    tensors = 0
    for name, hint, handled in _required(node):
        words = re.findall(r"[A-Z]\w+", hint) if depth else []
        targets = [slicer.package.lookup(key.file, word) for word in words]
        kinds = (_record(slicer, t, depth - 1) for t in targets if isinstance(t, Here) and t != key)
        inner = next(filter(None, kinds), None)
        tensors += inner is not None or "Tensor" in hint or handled
        fields.append((name, inner))
    return _Record(key, tuple(fields)) if tensors and len(fields) <= MAX_FIELDS else None


def _required(node: ast.ClassDef) -> Iterator[tuple[str, str, bool]]:
    """What a class must be given: names, hints, and whether its text handles them as tensors."""
    init = next((s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)
    if init is not None:
        text = "\n".join(ast.unparse(s) for s in init.body)
        arguments = init.args.args[1 : len(init.args.args) - len(init.args.defaults)]
        for a in arguments:
            hint = ast.unparse(a.annotation) if a.annotation else ""
            yield a.arg, hint, bool(re.search(_OF_TENSORS.format(re.escape(a.arg)), text))
    elif is_record(node):
        for s in nodes(node):
            if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and s.value is None:
                yield s.target.id, ast.unparse(s.annotation), False
