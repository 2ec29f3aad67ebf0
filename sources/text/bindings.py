"""What the top level of a file binds: its definitions, assignments and imports, by name.

Nothing is executed or imported; text that does not parse binds nothing.
"""

from __future__ import annotations

import ast
import operator
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from sources.text.called_outside import with_built_parts, with_named_inputs
from sources.text.desugar import (
    MAIN,
    main_as_function,
    with_counted_inputs,
    with_distributed,
    with_forward,
    with_one_group,
    with_plain_imports,
    with_positional_inputs,
    without_importing,
)
from sources.text.dispatched import with_usual_methods
from sources.text.evaluated import without_evaluating
from sources.text.importable import ALLOWED, FALLBACKS, STANDARD
from sources.text.lent import with_lent
from sources.text.networks import with_networks
from sources.text.older import (
    now_at,
    with_factories,
    with_filled_parameters,
    with_looped_edges,
    without_reserved,
)
from sources.text.parsers import without_arguments
from sources.text.partly import readable
from sources.text.plainly import with_errors, with_held, without_compiling
from sources.text.references import with_references
from sources.text.removed import with_removed
from sources.text.scope import is_literal, named_arguments, nodes, walk

REWRITES = (
    with_plain_imports, without_arguments, without_importing, without_evaluating, with_forward, with_positional_inputs,
    with_counted_inputs, with_named_inputs, with_built_parts,
    with_distributed, with_one_group, with_removed, with_factories, with_networks, with_looped_edges, with_lent,
    with_filled_parameters, with_usual_methods, without_compiling, with_errors, with_held, with_references,
)  # fmt: skip
Rewrite = Callable[[str, ast.Module], str]
FRAMES = 1000  # of a parser: Python's own limit; it makes trees of three times as many levels
_IMPORTING = (ast.Import, ast.ImportFrom, ast.Try, ast.If, ast.With)  # statements that may import something
_LOADING = frozenset(["load_library", "LoadLibrary", "CDLL"])
VERSIONS = {"torch": "2.11", "python": "3.11"}  # the least that a task is written for
_STARTS = re.compile(r"(?P<negated>not )?torch\.__version__\.startswith\(['\"](?P<start>[\d.]+)['\"]\)")
_PARROTS = re.compile(r"(?:torch\.__version__|TORCH_VERSION) ([=!]=) ['\"]parrots['\"]")
_MADE = r"(?:[\w.]*(?:[vV]ersion|parse)\w*)"  # LooseVersion(...), version.parse(...)
_COMPARED = re.compile(
    rf"(?:(?P<torch>(?:{_MADE}\()?torch\.__version__(?:\[:\d\])?\)?)|sys\.version_info(?:\[0\]|\[:\d\]|\.major)?)"
    rf" (?P<operator>[<>=!]=|[<>]) (?P<wanted>(?:{_MADE}\()?['\"][\d.]+['\"]\)?|\(\d+(?:, \d+)*,?\)|\d+)"
)
_OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
              "!=": operator.ne}  # fmt: skip


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
    own: Callable[[str], bool]  # whether a module is of its package
    bindings: dict[str, list[ast.stmt | Imported]] = field(default_factory=dict)
    stars: list[Imported] = field(default_factory=list)
    extras: dict[str, list[ast.stmt]] = field(default_factory=dict)  # later statements that change a name's value
    unread: str = ""  # why a part of it is left out, where one is

    def bind(self, name: str, how: ast.stmt | Imported) -> None:
        self.bindings.setdefault(name, []).append(how)


@contextmanager
def _shallow() -> Iterator[None]:
    """While active, no tree becomes deeper than those that walk trees have frames for, see ``survey.FRAMES``."""
    frame, depth, most = sys._getframe(), 0, sys.getrecursionlimit()
    while (above := frame.f_back) is not None:
        frame, depth = above, depth + 1
    sys.setrecursionlimit(min(most, depth + FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(most)


def parse(path: str, text: str, own: Callable[[str], bool], rewrites: Sequence[Rewrite] = REWRITES) -> File:
    """Parse a file and fill its symbol table. ``own`` tells whether a module is of its package.

    Raises:
        ValueError: nothing of it is Python 3; the message is one line.
    """
    try:
        with warnings.catch_warnings(), _shallow():
            warnings.simplefilter("ignore")
            text, tree, unread = readable(main_as_function(without_reserved(text)))
            for rewrite in rewrites:
                if (plain := rewrite(text, tree)) != text:
                    text, tree = plain, ast.parse(plain)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{type(error).__name__}: {error}".splitlines()[0]) from error
    file = File(path, text, tree, own, unread=unread)
    _bind(file, tree.body, always=True)
    _redefine(file)
    _bind_main(file)
    _bind_global(file)
    return file


def _redefine(file: File) -> None:
    """Leave nothing but the definition of what a file defines at its top level after it imported that."""
    for name, ways in file.bindings.items():
        defined = [w for w in ways if isinstance(w, ast.FunctionDef | ast.ClassDef) and w in file.tree.body]
        if not defined or not any(isinstance(w, Imported) for w in ways):
            continue
        after = (s for s in file.tree.body if s.lineno > defined[-1].lineno and isinstance(s, _IMPORTING))
        again = (a for s in after for n in walk(s) if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names)
        if all((a.asname or a.name) != name for a in again):
            file.bindings[name] = list(defined)


def _bind_main(file: File) -> None:
    """Note what a script's main block assigns, and nothing else binds: tutorials set there what their classes read."""
    main = next((n for n in file.bindings.get(MAIN, ()) if isinstance(n, ast.FunctionDef)), None)
    if main is None:
        return
    inside = File(file.path, file.text, file.tree, file.own)
    _bind(inside, main.body, always=True)
    for name, ways in inside.bindings.items():
        if name not in file.bindings and (
            values := [w for w in ways if isinstance(w, ast.Assign | ast.AnnAssign | ast.If)]
        ):
            file.bindings[name] = list(values)
            file.extras.setdefault(name, []).extend(inside.extras.get(name, ()))


def _bind_global(file: File) -> None:
    """Note the first plain value that functions give a name which only they bind: ``global count; count = 0``."""
    if "global " not in file.text or file.stars:  # the name may be among what is imported with everything
        return
    for function in (n for n in nodes(file.tree) if isinstance(n, ast.FunctionDef)):
        inside = [*walk(function)]
        names = {name for n in inside if isinstance(n, ast.Global) for name in n.names}.difference(file.bindings)
        plain = [n for n in inside if isinstance(n, ast.Assign) and is_literal(n.value)] if names else []
        for node in sorted(plain, key=lambda n: n.lineno):
            every = {n.id for t in node.targets for n in walk(t) if isinstance(n, ast.Name)}
            if every <= names:
                names -= every
                _assignment(file, node, always=False)


def _bind(file: File, body: Iterable[ast.stmt], always: bool = False) -> None:
    """Note what statements bind; ``always``: they are executed whenever the file is."""
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
            _assignment(file, node, always)
        elif isinstance(node, ast.AugAssign):
            file.extras.setdefault(_root(node.target), []).append(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            if isinstance(node.value.func, ast.Attribute):  # what it may add to its root is for ``sources.cut.slicer``
                file.extras.setdefault(_root(node.value.func), []).append(node)
            else:
                for name in _set_by(node.value, file):
                    file.extras.setdefault(name, []).append(node)
        elif isinstance(node, ast.For) and (filled := _filled(node, file)):
            file.extras.setdefault(filled, []).append(node)
        elif isinstance(node, ast.If):
            _conditional(file, node)
        elif isinstance(node, ast.Try):
            handlers = [s for h in node.handlers for s in h.body]
            fails = any(_foreign(file, s) or _loads_library(s) for s in node.body)
            _bind(file, [*handlers, *node.body] if fails else [*node.body, *node.orelse, *handlers])
        elif isinstance(node, ast.With):
            _bind(file, node.body, always)


def _set_by(call: ast.Call, file: File) -> Iterator[str]:
    """The names to whose attributes or items a function of the same file, called with them, gives values."""
    ways = file.bindings.get(call.func.id, ()) if isinstance(call.func, ast.Name) else ()
    for function in [how for how in ways if isinstance(how, ast.FunctionDef)][:1]:
        targets = (n for n in walk(function) if isinstance(n, ast.Attribute | ast.Subscript))
        roots = {_root(t) for t in targets if isinstance(t.ctx, ast.Store)}
        yield from (n for p, n in named_arguments(call, function) if n in file.bindings and p in roots)


def _filled(loop: ast.For, file: File) -> str:
    """The name of the table that all of a loop does is to fill, "" where it does anything else."""
    names, stack = set[str](), list[ast.stmt]([loop])
    while stack:
        node = stack.pop()
        if isinstance(node, ast.For | ast.If):
            stack += [*node.body, *node.orelse]
            continue
        changed: list[ast.expr]
        if isinstance(node, ast.Assign):
            changed = [t for t in node.targets if isinstance(t, ast.Subscript)] if len(node.targets) == 1 else []
        else:
            call = node.value if isinstance(node, ast.Expr) else None
            changed = [call.func] if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else []
        names |= {_root(c) for c in changed} or {""}
    own = {n.id for n in walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names.pop() if len(names) == 1 and not own & file.bindings.keys() and not own & names else ""


def _foreign(file: File, node: ast.stmt) -> bool:
    """Whether a statement imports a package that a task cannot have: what handles its absence counts then."""
    if isinstance(node, ast.Import):
        names = [a.name for a in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        names = [node.module or ""]
    else:
        return False
    known = (ALLOWED | STANDARD) - FALLBACKS
    return any(name.split(".")[0] not in known and not file.own(name) for name in names)


def _loads_library(node: ast.stmt) -> bool:
    """Whether a statement loads a compiled library, which a task cannot have: ``torch.ops.load_library(path)``.

    Or compiles one: ``load(name="ops", sources=["ops.cu"])``.
    """
    calls = [n for n in walk(node) if isinstance(n, ast.Call)] if isinstance(node, ast.Expr | ast.Assign) else []
    compiled = (c for c in calls if ast.unparse(c.func).split(".")[-1] in ("load", "load_inline"))
    return any(ast.unparse(c.func).split(".")[-1] in _LOADING for c in calls) or any(
        k.arg in ("sources", "cuda_sources", "cpp_sources") for c in compiled for k in c.keywords
    )


def _assignment(file: File, node: ast.Assign | ast.AnnAssign, always: bool) -> None:
    if node.value is None:
        return
    if always and (again := _changed(file, node)):
        file.extras.setdefault(again, []).append(node)
        return
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if isinstance(target, ast.Attribute | ast.Subscript):
            file.extras.setdefault(_root(target), []).append(node)
        else:
            for name in walk(target):
                if isinstance(name, ast.Name):
                    file.bind(name.id, node)


def _changed(file: File, node: ast.Assign | ast.AnnAssign) -> str:
    """The name in ``table = torch.from_numpy(table)``, a constant that is made from what it was before; else ""."""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if not isinstance(target, ast.Name) or target.id not in file.bindings:
        return ""
    reads = any(isinstance(n, ast.Name) and n.id == target.id for n in walk(node.value or ast.Pass()))
    return target.id if reads and all(isinstance(b, ast.Assign) for b in file.bindings[target.id]) else ""


def _conditional(file: File, node: ast.If) -> None:
    """An if-else of assignments is one statement that binds its names; other branches are read one after the other."""
    test = ast.unparse(node.test)
    if "__name__" in test and "__main__" in test:
        return
    if node.orelse and all(isinstance(s, ast.Assign | ast.Pass) for s in [*node.body, *node.orelse]):
        for name in walk(node):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                file.bind(name.id, node)
    elif "TYPE_CHECKING" in test or _of_versions(test) is False:
        # what is imported for hints may be what a package imports late; what is for another version may be all there is
        _bind(file, [*node.orelse, *_without(node.body, node.orelse)])
    elif _of_versions(test):
        _bind(file, [*node.body, *_without(node.orelse, node.body)])
    elif any(map(_loads_library, node.body)):
        _bind(file, [*node.orelse, *node.body])
    else:
        _bind(file, [*node.body, *node.orelse])


def _without(other: list[ast.stmt], chosen: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of one branch without what the other, which is taken, defines by the same names."""
    names = {s.name for s in chosen if isinstance(s, ast.FunctionDef | ast.ClassDef)}
    return [s for s in other if not isinstance(s, ast.FunctionDef | ast.ClassDef) or s.name not in names]


def _of_versions(test: str) -> bool | None:
    """How a test of the version of torch or Python ends, None for any other test."""
    if found := _PARROTS.fullmatch(test):  # what OpenMMLab has in place of torch elsewhere
        return found[1] == "!="
    if found := _STARTS.fullmatch(test):
        return VERSIONS["torch"].startswith(found["start"]) is not bool(found["negated"])
    if (found := _COMPARED.fullmatch(test)) is None:
        return None
    wanted = tuple(map(int, re.findall(r"\d+", found["wanted"])))
    have = tuple(map(int, VERSIONS["torch" if found["torch"] else "python"].split(".")))[: len(wanted)]
    return bool(_OPERATORS[found["operator"]](have, wanted))


def imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Imported]]:
    """The names that an import statement binds."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            module, name = now_at(node.module or "", alias.name) if not node.level else (node.module or "", alias.name)
            yield alias.asname or alias.name, Imported(module, node.level, name)
        elif alias.asname:
            yield alias.asname, Imported(alias.name)
        else:
            yield alias.name.split(".")[0], Imported(alias.name.split(".")[0])


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def says_nothing(how: ast.stmt | None) -> bool:
    """Whether a package binds a name to nothing of its own: at most to None, which says that there is none."""
    return how is None or isinstance(how, ast.Assign) and ast.unparse(how.value) == "None"
