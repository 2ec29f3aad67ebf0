"""Environment variables that a package sets itself before it reads them: ``os.environ["HEAD_SIZE"] = str(args.size)``.

A script sets them and then imports the module whose top level reads them; a task has no script.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

_SET = re.compile(r"""^[ \t]*(?:os\.)?environ\[(['"])(\w+)\1\][ \t]*=(?!=)[ \t]*(.+)$""", re.M)
_OF_PARSER = re.compile(r"(?:str\()?\w+\.(\w+)\)?")  # ``str(args.size)``


def said_in(texts: Iterable[str]) -> dict[str, str]:
    """What variables are set to, as expressions of strings: by the first that says so plainly, or by a default."""
    found: dict[str, str] = {}
    for text in (t for t in texts if "environ[" in t):
        for _, name, value in _SET.findall(text):
            if name not in found and (known := _value(value, text)) is not None:
                found[name] = repr(known)
    return found


def read_in(tree: Iterable[ast.AST], known: Mapping[str, str]) -> Iterator[tuple[ast.Subscript, str]]:
    """Where known variables are read that must be there, and what they are."""
    for node in tree:
        match node:
            case ast.Subscript(value=of, slice=ast.Constant(value=str() as name), ctx=ast.Load()) if name in known:
                if ast.unparse(of) in ("os.environ", "environ"):
                    yield node, known[name]


def _value(expression: str, text: str) -> str | None:
    """The string that an expression is; what it takes of a parser of the same text is the default there."""
    try:
        node = ast.parse(expression.strip(), mode="eval").body
    except SyntaxError:
        return None
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "str" and len(node.args) == 1:
        node = node.args[0]
    if isinstance(node, ast.Constant):
        return str(node.value)
    taken = _OF_PARSER.fullmatch(ast.unparse(node))
    if taken is None:
        return None
    asked = re.search(rf"""add_argument\(\s*['"]--{taken[1]}['"][^()]*?\bdefault\s*=\s*([^,()]+)""", text)
    try:
        return str(ast.literal_eval(asked[1].strip())) if asked else None
    except (ValueError, SyntaxError):
        return None
