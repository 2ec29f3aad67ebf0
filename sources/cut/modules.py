"""Which definitions of a package can become tasks: nn.Module classes that compute, and functions over tensors."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kdata.record import digest
from sources.text.methods import calls, calls_forward, handed_to, main_methods, methods, unfinished, unset
from sources.text.scope import walk
from sources.text.symbols import Package
from sources.text.targets import External, Here, Missing, Target

_WRAPPERS = ("DataParallel",)  # modules of torch's that are no bases of what computes
_TELLING = ("torch", "nn.", "class ")  # a file with none of these has nothing that computes
_TENSOR_WORK = ("torch", "torch.nn.functional", "torch.fft", "torch.linalg", "torch.special")
MAX_FUNCTION_LINES = 80
# Classes that are none by themselves: bases that are left to subclasses to fill in, and ones that take no tensors.
ABSTRACT, NO_FORWARD = "abstract", "no forward"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A definition that may become a task."""

    path: str
    symbol: str
    kind: str  # "module" or "function"
    shape: str  # hash of its syntax tree: equal ones are duplicates
    lines: int = 0  # of its own text
    refused: str = ""  # why it cannot be one, where that shows without running it
    methods: Sequence[str] = ()  # of a class without a forward of its own: what may be called in its place, best first
    takes: str = ""  # what a class's constructor and forward call their parameters; "" for one or none of each


def candidates(package: Package) -> list[Candidate]:
    """All classes and functions worth trying, by path and line. Replacements of ours are not among them."""
    finder = _Finder(package)
    found: list[Candidate] = []
    for path in package.looked_through():
        if path in package.replacements or path in package.examples:
            continue
        if any(word in package.texts[path] for word in _TELLING):
            found += finder.of_file(path)
            if not package.roots:  # else a slicer may hold what was parsed of them
                package.forget()
    return found


@dataclass(frozen=True, slots=True)
class _Class:
    """What is known of a class."""

    module: bool = False  # whether it is an nn.Module
    forward: bool = False  # whether a base in torch has a forward
    lineage: tuple[ast.ClassDef, ...] = ()  # it and its bases in the package, as far as they are there


@functools.lru_cache(maxsize=1 << 10)
def _of_torch(module: str, name: str) -> _Class:
    """What is known of a name of torch's own, which may be no class, or there no longer."""
    from torch import nn  # heavy: who only reads our reasons does without

    try:
        kind = getattr(importlib.import_module(module), name, None)
    except ImportError:
        kind = None
    if not isinstance(kind, type) or not issubclass(kind, nn.Module):
        return _Class()
    return _Class(True, kind.forward is not nn.Module.forward)


class _Finder:
    def __init__(self, package: Package) -> None:
        self.package = package
        self._classes: dict[Here, _Class] = {}
        self._called: Counter[str] | None = None

    def of_file(self, path: str) -> Iterator[Candidate]:
        file = self.package.file(path)
        if file is None:
            return
        for name, ways in file.bindings.items():
            node = ways[-1]
            if isinstance(node, ast.ClassDef):
                found = self._class(Here(path, name))
                if found.module:
                    yield Candidate(path, name, "module", shape(node), _lines(node), *self._way(found), _takes(found))
            elif isinstance(node, ast.FunctionDef) and self._function(path, node):
                yield Candidate(path, name, "function", shape(node), _lines(node))

    def _way(self, found: _Class) -> tuple[str, Sequence[str]]:
        """Why a class is no task, or by which methods it computes: none are needed where it has a forward."""
        known = methods(found.lineage)
        if found.forward and "forward" not in known:
            return "", ()
        if not unfinished(known, "forward"):
            refused, called = ABSTRACT if unset(found.lineage, always=True) else "", handed_to(known)
            return refused, (called,) if called and not refused else ()
        if calls_forward(known):  # whatever else it has is for those below it
            return ABSTRACT, ()
        if self._called is None:
            self._called = calls({p: self.package.texts[p] for p in self.package.looked_through()})
        if main := main_methods(known, self._called):
            return "", main
        return (ABSTRACT if any(unfinished(known, name) for name in known) else NO_FORWARD), ()

    def _class(self, key: Here) -> _Class:
        if key not in self._classes:
            self._classes[key] = _Class()  # the answer for a circle
            file = self.package.file(key.file)
            node = file.bindings[key.name][-1] if file else None
            if isinstance(node, ast.ClassDef):
                targets = [self._resolve(key.file, _plain(b)) for b in node.bases]
                made = any(isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == "forward" for s in node.body)
                if made or any(isinstance(s, ast.FunctionDef) and s.name == "forward" for s in node.body):
                    for target in targets:
                        self.package.ask(target)
                bases = [self._base(t) for t in targets]
                above = reversed([c for b in bases for c in b.lineage])
                lineage = (node, *reversed(dict.fromkeys(above)))  # what is above several of them comes last
                forward = made or any(b.forward for b in bases)
                self._classes[key] = _Class(any(b.module for b in bases), forward, lineage)
        return self._classes[key]

    def _resolve(self, path: str, node: ast.expr) -> Target:
        if isinstance(node, ast.Name | ast.Attribute):
            target, _ = self.package.chain(path, node)
            return target
        return Missing("")

    def _base(self, target: Target) -> _Class:
        if isinstance(target, Here):
            return self._class(target)
        if isinstance(target, External) and target.module.startswith("torch.nn") and target.name not in _WRAPPERS:
            return _of_torch(target.module, target.name)
        return _Class()

    def _function(self, path: str, node: ast.FunctionDef) -> bool:
        """A short public function that takes something, calls torch on it and returns a value."""
        arguments = [a.arg for a in [*node.args.posonlyargs, *node.args.args]]
        lines = (node.end_lineno or 0) - node.lineno
        if (
            not arguments
            or node.decorator_list
            or lines > MAX_FUNCTION_LINES
            or node.name.startswith(("_", "test"))
            or node.name.isupper()
        ):
            return False
        if not any(isinstance(n, ast.Return) and n.value is not None for n in walk(node)):
            return False
        hints = " ".join(ast.unparse(a.annotation) for a in node.args.args if a.annotation)
        named = {a.arg for a in node.args.kwonlyargs}
        return ("Tensor" in hints or not hints) and self._calls_torch(path, node, named.union(arguments))

    def _calls_torch(self, path: str, node: ast.FunctionDef, arguments: set[str]) -> bool:
        for call in (n for n in walk(node) if isinstance(n, ast.Call)):
            target = self._resolve(path, call.func)
            if isinstance(target, External) and target.module in _TENSOR_WORK and target.name[:1].islower():
                used = {n.id for a in call.args for n in walk(a) if isinstance(n, ast.Name)}
                if used & arguments:
                    return True
        return False


def _plain(base: ast.expr) -> ast.expr:
    """A base without the types that it is of: ``Net[int]`` is no other class than ``Net``."""
    return base.value if isinstance(base, ast.Subscript) else base


def _takes(found: _Class) -> str:
    known = methods(found.lineage)
    every = [[a.arg for a in known[n].args.args[1:]] if n in known else [] for n in ("__init__", "forward")]
    return " | ".join(map(" ".join, every)) if all(every) and sum(map(len, every)) > 2 else ""


def shape(node: ast.ClassDef | ast.FunctionDef) -> str:
    """Hash of a definition without its docstrings, positions and own name, which an attribute is not."""
    return digest(re.sub(rf"\b(name|id)='{re.escape(node.name)}'", r"\1=''", _dump(node)))


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _dump(node: ast.AST) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return ""
    parts = []
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            parts.append(f"{name}=[" + ",".join(_dump(v) if isinstance(v, ast.AST) else repr(v) for v in value) + "]")
        elif isinstance(value, ast.AST):
            parts.append(f"{name}={_dump(value)}")
        elif value is not None and name not in ("type_comment", "kind"):
            parts.append(f"{name}={value!r}")
    return f"{type(node).__name__}({','.join(parts)})"
