"""What only a script does, said as definitions.

The block under ``if __name__ == "__main__"`` becomes a function, so that it can be cut out and run like others. A
module's ``__call__`` is its ``forward``, and that takes its inputs by position.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from sources.text.rewrite import Edits, Text
from sources.text.scope import classes, forwards, is_literal, nodes, walk

_STAR = re.compile(rb"(?:[\s,()]|#[^\n]*\n)*(?P<star>\*\s*,)")  # behind what may stand before it, comments included
_MAIN = re.compile(r"""^if\s*\(?\s*__name__\s*==\s*['"]__main__['"]\s*\)?\s*:""", re.M)
_BY_NAME = re.compile(r"(importlib\.)?import_module|__import__")
MAIN = "run_as_script"
_COUNTED = re.compile(r"def forward\(self, \*\w+\):[^#]{0,400}?\bif len\(\w+\) ?== ?\d")
_OF_GROUP = re.compile(r"(^|_)groups?$")
DISTRIBUTED = "torch_distributed"
NAMED = "named_definitions"  # what definitions are taken out of by name, see ``sources.cut.by_name``


def main_as_function(text: str) -> str:
    """The text with its main block as a function ``MAIN``."""
    return _MAIN.sub(f"def {MAIN}():", text)


def with_plain_imports(text: str, tree: ast.Module) -> str:
    """The text with ``einops, found = optional_import("einops")``, as MONAI imports, said as an import."""
    if "optional_import(" not in text:
        return text
    lines = text.split("\n")
    for statement in reversed(tree.body):
        if isinstance(statement, ast.Assign) and (said := _imported(statement)):
            lines[statement.lineno - 1 : statement.end_lineno] = said
    return "\n".join(lines)


def with_forward(text: str, tree: ast.Module) -> str:
    """The text with ``forward`` in place of the ``__call__`` that a module class defines for want of one."""
    if "def __call__" not in text:
        return text
    every = classes(tree)
    above = {n.name: [ast.unparse(b).split(".")[-1] for b in n.bases] for n in every}
    defined = {n.name: {s.name for s in n.body if isinstance(s, ast.FunctionDef)} for n in every}

    def is_module(name: str, seen: frozenset[str] = frozenset()) -> bool:
        return name == "Module" or name not in seen and any(is_module(b, seen | {name}) for b in above.get(name, ()))

    lines = text.split("\n")
    for node in every:
        for method in node.body if "forward" not in defined[node.name] and is_module(node.name) else ():
            if isinstance(method, ast.FunctionDef) and method.name == "__call__":
                at = method.lineno - 1
                lines[at] = lines[at].replace("__call__", "forward", 1)
    return "\n".join(lines)


def with_positional_inputs(text: str, tree: ast.Module) -> str:
    """The text without the ``*`` of each ``forward``: what may be given by name only may be given by position, too.

    Such an input that must be given has None for its default where one before it has a default.
    """
    if not (named := [method for method in forwards(tree) if method.args.kwonlyargs]):
        return text
    edits = Edits(Text.of(text))
    for method in named:
        given = method.args
        before: list[ast.arg | ast.expr] = [*given.posonlyargs, *given.args, *given.defaults]
        if given.vararg or not before:
            continue
        start, end = max(map(edits.text.end, before)), edits.text.start(given.kwonlyargs[0])
        star = _STAR.match(edits.text.data, start, end)
        if star is None:
            continue
        edits.replace(star.start("star"), star.end(), "")
        optional = bool(given.defaults)
        for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
            optional = optional or default is not None
            if optional and default is None:
                edits.replace(edits.text.end(argument), edits.text.end(argument), " = None")
    return edits.whole()


def with_counted_inputs(text: str, tree: ast.Module) -> str:
    """The text with names for what ``forward(self, *given)`` unpacks where it was given so many: those of most count.

    ``if len(given) == 2: x, edges = given[0], given[1]``.
    """
    if not _COUNTED.search(text):
        return text
    edits = Edits(Text.of(text))
    for method in forwards(tree):
        star = method.args.vararg
        if star is None:
            continue
        names = max((_named(n, star.arg) for n in walk(method) if isinstance(n, ast.If)), key=len, default=[])
        if len(method.args.args) > 1 or method.args.kwonlyargs or method.args.kwarg or len({*names, star.arg}) < 3:
            continue
        first = method.body[-1 if len(method.body) == 1 else int(ast.get_docstring(method) is not None)]
        said, start = ", ".join(names), edits.text.start(first)
        edits.replace(edits.text.start(star) - 1, edits.text.end(star), said)
        edits.replace(start, start, f"{star.arg} = ({said})\n{first.col_offset * ' '}")
    return edits.whole()


def _named(branch: ast.If, given: str) -> list[str]:
    """The names that a branch for so many of what is ``given`` unpacks these to; none for another branch."""
    test, first = ast.unparse(branch.test), branch.body[0]
    if not isinstance(first, ast.Assign) or not isinstance(first.targets[0], ast.Tuple):
        return []
    names = [t.id for t in first.targets[0].elts if isinstance(t, ast.Name)]
    items = ", ".join(f"{given}[{i}]" for i in range(len(names)))
    unpacked = ast.unparse(first.value).strip("()") in (items, given)
    return names if unpacked and test == f"len({given}) == {len(names)}" else []


def with_distributed(text: str, tree: ast.Module) -> str:
    """The text with ``torch.distributed`` under a name of its own, for a task has one process: our own module's.

    It is an attribute of ``torch`` wherever that is imported.
    """
    if "torch.distributed." not in text:
        return text
    imported = (n for n in tree.body if isinstance(n, ast.Import) and any(a.name == "torch" for a in n.names))
    inner = (n.value for n in nodes(tree) if isinstance(n, ast.Attribute))
    found = [n for n in inner if isinstance(n, ast.Attribute) and ast.unparse(n) == "torch.distributed"]
    first = next(imported, None)
    if first is None or not found:
        return text
    edits = Edits(Text.of(text))
    for node in found:
        edits.replace(edits.text.start(node), edits.text.end(node), DISTRIBUTED)
    edits.replace(edits.text.end(first), edits.text.end(first), f"\nimport torch.distributed as {DISTRIBUTED}")
    return edits.whole()


def with_one_group(text: str, tree: ast.Module) -> str:
    """The text with functions that answer with a group of processes though nobody made one: None is that of all.

    ``assert _MODEL_PARALLEL_GROUP is not None``, as Megatron and what follows it ask, would fail in any task.
    """
    if "_group" not in text or "distributed" not in text or "is not None" not in text:
        return text
    edits = Edits(Text.of(text))
    for function in (n for n in tree.body if isinstance(n, ast.FunctionDef) and _OF_GROUP.search(n.name)):
        last = function.body[-1]
        answer = last.value if isinstance(last, ast.Return) else None
        if isinstance(answer, ast.Name) and _is_unset(tree, answer.id):
            for check in (n for n in walk(function) if isinstance(n, ast.Assert)):
                if ast.unparse(check.test) == f"{answer.id} is not None":
                    edits.replace(edits.text.start(check), edits.text.end(check), "pass")
    return edits.whole()


def _is_unset(tree: ast.Module, name: str) -> bool:
    """Whether all that the top level of a file gives a name is None."""
    given = [n for n in tree.body if isinstance(n, ast.Assign) and any(ast.unparse(t) == name for t in n.targets)]
    return bool(given) and all(isinstance(n.value, ast.Constant) and n.value.value is None for n in given)


def without_importing(text: str, tree: ast.Module) -> str:
    """The text with ``NAMED`` in place of each module that is imported by a computed name, to take something out.

    ``found = import_module("name")`` in a ``try`` is said as an import, as any other.
    """
    if "import_module(" not in text and "__import__(" not in text:
        return text
    edits, found = Edits(Text.of(text)), dict[int, ast.Call]()
    for statement in (s for n in nodes(tree) if isinstance(n, ast.Try) for s in n.body):
        if isinstance(statement, ast.Assign) and (said := _tried(statement)):
            edits.replace(edits.text.start(statement), edits.text.end(statement), said)
    for function in (n for n in nodes(tree) if isinstance(n, ast.FunctionDef)):
        inner = [n for n in walk(function) if isinstance(n, ast.Call)]
        if any(ast.unparse(call.func) == "getattr" for call in inner):
            computed = (c for c in inner if _BY_NAME.fullmatch(ast.unparse(c.func)) and c.args)
            new = {id(c): c for c in computed if not is_literal(c.args[0])}
            for parts in _followed(function) if new else ():
                edits.replace(edits.text.start(parts), edits.text.end(parts), "-1:")
            found |= new
    for call in found.values():
        edits.replace(edits.text.start(call), edits.text.end(call), NAMED)
    return edits.whole()


def _followed(function: ast.FunctionDef) -> Iterator[ast.Slice]:
    """The parts of a dotted name that a loop goes along, of which only the last is found in ``NAMED``.

    ``for part in parts[1:]: found = getattr(found, part)``, for ``__import__`` answers with the first package.
    Not where something was taken out of that before the loop: then there may be no part left.
    """
    given = defaultdict[str, list[str]](list)
    for node in (n for n in walk(function) if isinstance(n, ast.Assign)):
        for target in node.targets:
            given[ast.unparse(target)].append(ast.unparse(getattr(node.value, "func", node.value)))
    for loop in (n for n in walk(function) if isinstance(n, ast.For)):
        match loop:
            case ast.For(
                target=ast.Name(id=part),
                iter=ast.Subscript(slice=ast.Slice(lower=ast.Constant(), upper=None) as parts),
                body=[ast.Assign(targets=[ast.Name(id=found)], value=value)],
            ) if ast.unparse(value) == f"getattr({found}, {part})":
                if len(given[found]) == 2 and any(map(_BY_NAME.fullmatch, given[found])):
                    yield parts


def _tried(node: ast.Assign) -> str:
    """An import by a literal name as a statement; "" where it is something else."""
    call, target = node.value, node.targets[0]
    if not isinstance(call, ast.Call) or not _BY_NAME.fullmatch(ast.unparse(call.func)) or len(call.args) != 1:
        return ""
    name = ast.unparse(call.args[0])[1:-1] if isinstance(call.args[0], ast.Constant) else ""
    plain = isinstance(target, ast.Name) and re.fullmatch(r"[A-Za-z_][\w.]*", name)
    return f"import {name} as {ast.unparse(target)}" if plain else ""


def _imported(node: ast.Assign) -> list[str]:
    """An optional import as plain statements; none where it is something else."""
    call, target = node.value, node.targets[0]
    if not isinstance(call, ast.Call) or not ast.unparse(call.func).endswith("optional_import") or not call.args:
        return []
    names = [ast.unparse(n) for n in target.elts] if isinstance(target, ast.Tuple) else []
    given = {k.arg: k.value.value for k in call.keywords if isinstance(k.value, ast.Constant)}
    module = call.args[0]
    path = module.value if isinstance(module, ast.Constant) else ""
    if len(names) != 2 or not isinstance(path, str) or not re.fullmatch(r"[\w.]+", path):
        return []
    wanted = str(given.get("name", ""))
    said = f"from {path} import {wanted} as {names[0]}" if wanted else f"import {path} as {names[0]}"
    return [said, f"{names[1]} = True"]
