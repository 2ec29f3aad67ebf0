"""What only a script does, said as definitions.

``opt = parser.parse_args()`` becomes the parser's defaults, and the block under ``if __name__ == "__main__"`` a
function, so that it can be cut out and run like others. A module's ``__call__`` is its ``forward``, and that takes
its inputs by position.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sources.text.rewrite import Edits, Text
from sources.text.scope import is_literal

_PARSE = re.compile(r"\bparse(_known)?_args\(|\bget_config\(")
_TYPES = {"int": "1", "float": "0.5", "str": "''", "bool": "False"}
_CALLED = re.compile(r"\bdef __call__\b")
_STARRED = re.compile(r"\bdef forward\b.*?[(,]\s*\*\s*,", re.S)
_STAR = re.compile(rb"(?:[\s,()]|#[^\n]*\n)*(?P<star>\*\s*,)")  # behind what may stand before it, comments included
_MAIN = re.compile(r"""^if\s*\(?\s*__name__\s*==\s*['"]__main__['"]\s*\)?\s*:""", re.M)
_BY_NAME = re.compile(r"(importlib\.)?import_module|__import__")
MAIN = "run_as_script"
NAMED = "named_definitions"  # what definitions are taken out of by name, see ``sources.cut.by_name``
IMPORT = "from types import SimpleNamespace"


def main_as_function(text: str) -> str:
    """The text with its main block as a function ``MAIN``."""
    return _MAIN.sub(f"def {MAIN}():", text)


def without_arguments(text: str, tree: ast.Module) -> str:
    """The text with values of a script that come from an argument parser replaced by the parser's defaults.

    Line numbers of what comes before and after the replaced statements may change.
    """
    if not _PARSE.search(text):
        return text
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    makers = {n.name for n in functions if n.name != MAIN and _PARSE.search(ast.unparse(n))}
    main = [s for n in functions if n.name == MAIN for s in n.body]
    found = [s for s in [*tree.body, *main] if isinstance(s, ast.Assign) and _parses(s.value, makers)]
    found.sort(key=lambda s: s.lineno)
    if not found:
        return text
    values = dict(arguments(tree))
    lines = text.split("\n")
    for statement in reversed(found):
        target = statement.targets[0]
        if isinstance(target, ast.Tuple):
            target = target.elts[0]
        name = ast.unparse(target)
        read = set(re.findall(rf"\b{re.escape(name)}\.(\w+)", text))
        kept = {k: v for k, v in values.items() if not read or k in read}
        fields = ", ".join(f"{k}={v}" for k, v in kept.items())
        indent = " " * statement.col_offset
        lines[statement.lineno - 1 : statement.end_lineno] = [f"{indent}{name} = SimpleNamespace({fields})"]
    return "\n".join([*_future(lines), ""]) if lines else text


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
    if not _CALLED.search(text):
        return text
    classes = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
    above = {n.name: [ast.unparse(b).split(".")[-1] for b in n.bases] for n in classes}
    defined = {n.name: {s.name for s in n.body if isinstance(s, ast.FunctionDef)} for n in classes}

    def is_module(name: str, seen: frozenset[str] = frozenset()) -> bool:
        return name == "Module" or name not in seen and any(is_module(b, seen | {name}) for b in above.get(name, ()))

    lines = text.split("\n")
    for node in classes:
        for method in node.body if "forward" not in defined[node.name] and is_module(node.name) else ():
            if isinstance(method, ast.FunctionDef) and method.name == "__call__":
                at = method.lineno - 1
                lines[at] = lines[at].replace("__call__", "forward", 1)
    return "\n".join(lines)


def with_positional_inputs(text: str, tree: ast.Module) -> str:
    """The text without the ``*`` of each ``forward``: what may be given by name only may be given by position, too.

    Such an input that must be given has None for its default where one before it has a default.
    """
    if not _STARRED.search(text):
        return text
    edits = Edits(Text.of(text))
    for method in (s for n in ast.walk(tree) if isinstance(n, ast.ClassDef) for s in n.body):
        if not isinstance(method, ast.FunctionDef) or method.name != "forward":
            continue
        given = method.args
        before: list[ast.arg | ast.expr] = [*given.posonlyargs, *given.args, *given.defaults]
        if given.vararg or not given.kwonlyargs or not before:
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
    return edits.whole() if edits.changes else text


def without_importing(text: str, tree: ast.Module) -> str:
    """The text with ``NAMED`` in place of each module that is imported by a computed name, to take something out."""
    if "import_module(" not in text and "__import__(" not in text:
        return text
    edits, found = Edits(Text.of(text)), dict[int, ast.Call]()
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        inner = [n for n in ast.walk(function) if isinstance(n, ast.Call)]
        if any(ast.unparse(call.func) == "getattr" for call in inner):
            found |= {id(c): c for c in inner if _BY_NAME.fullmatch(ast.unparse(c.func)) and c.args}
    for call in found.values():
        if not is_literal(call.args[0]):
            edits.replace(edits.text.start(call), edits.text.end(call), NAMED)
    return edits.whole() if edits.changes else text


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


def _future(lines: list[str]) -> list[str]:
    """The lines with our import, after those of ``__future__``."""
    at = max((i + 1 for i, line in enumerate(lines) if line.startswith("from __future__")), default=-1)
    return [*lines[:at], IMPORT, *lines[at:]] if at > 0 else [*lines, IMPORT]


def _parses(value: ast.expr, makers: set[str]) -> bool:
    for node in ast.walk(value):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("parse_args", "parse_known_args") or name in makers:
                return True
    return False


def arguments(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Names and default expressions of all ``add_argument`` calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            options = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            named = {k.arg: k.value for k in node.keywords}
            name = max(options, key=len, default="").lstrip("-").replace("-", "_")
            if isinstance(destination := named.get("dest"), ast.Constant):
                name = str(destination.value)
            if name.isidentifier():
                yield name, _default(named)


def _default(named: dict[str | None, ast.expr]) -> str:
    if "default" in named and is_literal(named["default"]):
        value = ast.literal_eval(named["default"])
        kind = getattr(named.get("type"), "id", "")
        if isinstance(value, str) and kind in ("int", "float"):
            return value if re.fullmatch(r"-?[\d.]+(e-?\d+)?", value) else _TYPES[kind]
        return repr(value)
    action = getattr(named.get("action"), "value", "")
    if action in ("store_true", "store_false"):
        return repr(action == "store_false")
    choices = named.get("choices")
    if isinstance(choices, ast.List | ast.Tuple) and choices.elts and is_literal(choices.elts[0]):
        return ast.unparse(choices.elts[0])
    return _TYPES.get(getattr(named.get("type"), "id", ""), "None")
