"""``ModelNew``: the reference's constructor, its parameters and buffers, and a forward made of kernels.

What the constructor needs stays as it is; modules that only hold parameters lose their methods.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Callable, Collection, Sequence

from kdata.align.attributes import keep_parameters
from kdata.align.construct import drop_docstrings, drop_idle_attributes, use_builtins
from kdata.align.errors import AlignError
from kdata.align.naming import Rename
from kdata.task import INIT_INPUTS, INPUTS

NEW = "ModelNew"
ALWAYS_IMPORTED = ("import torch", "import triton", "import triton.language as tl")


def model(
    source: str, entry_point: str, idle: Collection[str], inherited: ast.FunctionDef, constants: Sequence[str],
    kept_sizes: dict[str, str], forward: Callable[[ast.FunctionDef], str],
) -> tuple[list[str], str]:  # fmt: skip
    """Import lines and the text of all classes, ``ModelNew`` last.

    Args:
        source: the task's text.
        entry_point: the name of its module.
        idle: attributes that the new forward does not read.
        inherited: the signature of a ``forward`` that a class of torch has.
        constants: lines of the new forward that read names of the task's text.
        kept_sizes: filled by ``forward``: constructor parameters, and the attributes that are to keep them.
        forward: gets the reference's ``forward`` and returns the text of the new one.
    """
    tree = ast.parse(source)
    drop_docstrings(tree)
    use_builtins(tree)
    top = {n: s for s in tree.body for n in _defined(s)}
    entry = top.get(entry_point)
    if not isinstance(entry, ast.ClassDef):
        raise AlignError("unsupported task", f"{entry_point} is not a class of the task's text")
    old = _forward(entry, top) or inherited
    kept = _slim(entry)
    constructing = [kept, *(_slimmed(s) for s in tree.body if s is not entry)]
    defined = {n for s in tree.body if not isinstance(s, ast.Import | ast.ImportFrom) for n in _defined(s)}
    drop_idle_attributes(constructing, defined, idle)
    needed: list[ast.stmt] = []
    for reading in [kept, *ast.parse("\n".join(constants)).body]:
        _close(reading, [s for s in tree.body if s is not entry], needed)
    new = ast.parse(forward(old)).body
    if kept_sizes:
        keep_parameters(kept, kept_sizes)
    kept.body = [*kept.body, *new] if _has_statements(kept) else new
    kept.name = NEW
    Rename({entry_point: NEW}).visit(kept)
    classes = [s for s in tree.body if s in needed and not isinstance(s, ast.Import | ast.ImportFrom)]
    text = "\n\n\n".join(ast.unparse(_slimmed(s)) for s in [*classes, kept])
    text = text.replace(f"super({NEW}, self)", "super()")
    imports = [_narrowed(s, text) for s in tree.body if s in needed and isinstance(s, ast.Import | ast.ImportFrom)]
    return [i for i in imports if i and i not in ALWAYS_IMPORTED], text


def _defined(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [(a.asname or a.name).partition(".")[0] for a in names]
        case ast.Assign() | ast.AnnAssign() | ast.If() | ast.Try():
            return [n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return []


def _forward(entry: ast.ClassDef, top: dict[str, ast.stmt]) -> ast.FunctionDef | None:
    """The class's own forward, or that of the nearest base in the text, if there is one."""
    for statement in entry.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "forward":
            return statement
    for base in entry.bases:
        found = top.get(ast.unparse(base))
        if isinstance(found, ast.ClassDef):
            return _forward(found, top)
    return None


def _slim(node: ast.ClassDef) -> ast.ClassDef:
    """A copy of a class with its constructor, what the constructor calls, and its class attributes."""
    methods = {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}
    needed, queue = set[str](), ["__init__", "__new__", "__post_init__"]
    while queue:
        name = queue.pop()
        if name in methods and name not in needed:
            needed.add(name)
            queue += [n.attr for n in ast.walk(methods[name]) if isinstance(n, ast.Attribute)]
    body = [s for s in node.body if not isinstance(s, ast.FunctionDef) or s.name in needed - {"forward"}]
    body = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return ast.ClassDef(node.name, node.bases, node.keywords, body or [ast.Pass()], node.decorator_list)


def _slimmed(statement: ast.stmt) -> ast.stmt:
    is_module = isinstance(statement, ast.ClassDef) and any("Module" in ast.unparse(b) or b for b in statement.bases)
    return (
        _slim(statement) if is_module and isinstance(statement, ast.ClassDef) and statement.name != NEW else statement
    )


def _has_statements(node: ast.ClassDef) -> bool:
    return not all(isinstance(s, ast.Pass) for s in node.body)


def _close(node: ast.stmt, others: Sequence[ast.stmt], needed: list[ast.stmt]) -> None:
    """Collect the top-level statements that a node reads, and those that these read."""
    for name in sorted(_globals(node) - {INPUTS, INIT_INPUTS}):
        for statement in others:
            if name in _defined(statement) and statement not in needed:
                needed.append(statement)
                _close(_slimmed(statement), others, needed)


def _globals(node: ast.stmt) -> set[str]:
    """The module-level names that a statement reads, by Python's own scoping."""
    table = symtable.symtable(ast.unparse(ast.fix_missing_locations(node)), "<task>", "exec")
    found: set[str] = set()
    queue = [table]
    while queue:
        scope = queue.pop()
        queue += scope.get_children()
        is_top = scope.get_type() == "module"
        # ``global n`` is for ``n += 1``, which reads it, too
        read = [s for s in scope.get_symbols() if s.is_referenced() or s.is_declared_global()]
        found |= {s.get_name() for s in read if is_top or s.is_global()}
    return found


def _narrowed(statement: ast.Import | ast.ImportFrom, text: str) -> str:
    """The import with only the names that the text uses."""
    used = [a for a in statement.names if re.search(rf"\b{re.escape((a.asname or a.name).partition('.')[0])}\b", text)]
    if not used:
        return ""
    if isinstance(statement, ast.Import):
        return ast.unparse(ast.Import(used))
    return ast.unparse(ast.ImportFrom(statement.module, used, statement.level))
