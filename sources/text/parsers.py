"""Values of a script that come from an argument parser, said as the parser's defaults.

``opt = parser.parse_args()`` becomes ``opt = SimpleNamespace(width=8)``, also in a function that returns them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from sources.text.desugar import MAIN
from sources.text.folded import folded
from sources.text.scope import is_literal

_PARSE = re.compile(r"\bparse(_known)?_args\(|\bget_config\(")
_SAYING = ("_args(", "get_config(")  # one of them is in what that finds, and looked for at no cost
_PARSING = ("parse_args", "parse_known_args")
_TYPES = {"int": "1", "float": "0.5", "str": "''", "bool": "False"}
NAMESPACE_IMPORT = "from types import SimpleNamespace"
Taken = tuple[Sequence[ast.stmt], ast.Assign | ast.Return]  # what is left out, and its last, which takes the values


def without_arguments(text: str, tree: ast.Module) -> str:
    """The text with values of a script that come from an argument parser replaced by the parser's defaults.

    Line numbers of what comes before and after the replaced statements may change.
    """
    if not any(word in text for word in _SAYING) or not _PARSE.search(text):
        return text
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    makers = {n.name: n for n in functions if n.name != MAIN and _PARSE.search(ast.unparse(n))}
    main = [s for n in functions if n.name == MAIN for s in n.body]
    elsewhere = {a.asname or a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names}
    found = list[Taken]()
    for statement in [*tree.body, *main]:
        if isinstance(statement, ast.Assign) and _parses(statement.value, {*makers}, elsewhere):
            found.append(([statement], statement))
    found += [made for n in makers.values() if (made := _parsed_in(n))]
    values = dict(arguments(tree))
    lines = text.split("\n")
    for replaced, taking in sorted(found, key=lambda f: f[1].lineno, reverse=True):
        said, read = _target(taking), set[str]()
        if replaced == [taking]:  # what a maker returns others read
            read = set(re.findall(rf"\b{re.escape(said.removesuffix(' = '))}\.(\w+)", text))
        fields = ", ".join(f"{k}={v}" for k, v in values.items() if not read or k in read)
        indent = " " * taking.col_offset
        lines[replaced[0].lineno - 1 : taking.end_lineno] = [f"{indent}{said}SimpleNamespace({fields})"]
    return "\n".join([*_future(lines), ""]) if found else text


def _future(lines: list[str]) -> list[str]:
    """The lines with our import, after those of ``__future__``."""
    at = max((i + 1 for i, line in enumerate(lines) if line.startswith("from __future__")), default=-1)
    return [*lines[:at], NAMESPACE_IMPORT, *lines[at:]] if at > 0 else [*lines, NAMESPACE_IMPORT]


def _parses(value: ast.expr, makers: set[str], elsewhere: set[str]) -> bool:
    """Whether a parser's values are taken, and not by a function of another file."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if (name in _PARSING and not (isinstance(node.func, ast.Name) and name in elsewhere)) or name in makers:
                return True
    return False


def _parsed_in(maker: ast.FunctionDef) -> Taken | None:
    """The statement of a function that takes a parser's values, and all those up to it, which make the parser."""
    body = maker.body[ast.get_docstring(maker) is not None :]
    for at, statement in enumerate(body):
        if not isinstance(statement, ast.Assign | ast.Return) or not isinstance(call := statement.value, ast.Call):
            continue
        if isinstance(call.func, ast.Attribute) and call.func.attr in _PARSING:
            several = isinstance(statement, ast.Return) and call.func.attr != "parse_args"
            return (body[: at + 1], statement) if body[0].lineno > maker.lineno and not several else None
    return None


def _target(statement: ast.Assign | ast.Return) -> str:
    """What stands before the values that a statement takes."""
    if isinstance(statement, ast.Return):
        return "return "
    target = statement.targets[0]
    return f"{ast.unparse(target.elts[0] if isinstance(target, ast.Tuple) else target)} = "


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
    if "default" in named and is_literal(default := folded(named["default"])):
        value = ast.literal_eval(default)
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
