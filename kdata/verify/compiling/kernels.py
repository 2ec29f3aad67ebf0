"""The part of a candidate's text that decides what one of its kernels compiles to, and when two such texts are one."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from kdata.record import digest
from kdata.verify.candidate.source import needed


def text_of(source: str, launch: Mapping[str, Any]) -> str:
    """Imports, the launched kernel, and what these and its constants name at the top level, directly or not.

    A child that compiles this text cannot have been influenced by the rest of the candidate.  A kernel that stands in a
    function stands at the top level there, beside what it uses of that function's names.
    """
    functions = {v["constant"]["function"] for v in launch["arguments"].values() if _is_function(v)}
    names = frozenset(name.partition(".")[0] for name in (launch["kernel"], *functions))
    return _text(source, names, json.dumps(launch.get("within"), sort_keys=True))


@lru_cache(maxsize=64)
def _text(source: str, names: frozenset[str], within: str) -> str:
    tree = ast.parse(source)
    inner = _brought_out(tree, names, json.loads(within)) if within != "null" else []
    tree.body = needed([*tree.body, *inner], names)
    return ast.unparse(tree)


def _brought_out(tree: ast.Module, names: frozenset[str], within: Mapping[str, Any]) -> list[ast.stmt]:
    """The kernels of a function that are named or used by one of these, and what they use of its names."""
    outer: ast.AST = tree
    for part in ".".join(within["place"]).split("."):
        outer = next((n for n in ast.walk(outer) if getattr(n, "name", "") == part and n is not outer), outer)
    held = {name: value for name, value in within["names"].items() if name.isidentifier()}
    helpers = {name: value["constant"]["function"] for name, value in held.items() if _is_function(value)}
    bound = [_binding(name, value) for name, value in held.items() if name not in helpers]
    renamed = [f"{name} = {kernel}" for name, kernel in helpers.items() if name != kernel and kernel.isidentifier()]
    used = names | set(helpers.values())
    kernels = [k for k in ast.walk(outer) if isinstance(k, ast.FunctionDef) and k.name in used]
    before = ast.parse("\n".join(["import triton.language", *bound])).body
    return [*before, *kernels, *ast.parse("\n".join(renamed)).body]


def _binding(name: str, value: Mapping[str, Any]) -> str:
    """A statement that gives a name what it stands for in a function; nothing where that cannot be said."""
    if "module" in value:
        return f"import {value['module']} as {name}" if all(map(str.isidentifier, value["module"].split("."))) else ""
    constant: Any = value.get("constant")
    if isinstance(constant, dict):
        return f"{name} = triton.language.dtype({constant['dtype']!r})"
    said = f"triton.language.constexpr({constant!r})" if value.get("constexpr") else repr(constant)
    return f"{name} = {said}" if "constant" in value else ""


def _is_function(argument: Mapping[str, Any]) -> bool:
    return isinstance(argument.get("constant"), dict) and "function" in argument["constant"]


def key(text: str, launch: Mapping[str, Any], target: str) -> str:
    """Equal for launches that compile to the same code: names of kernels, their parameters and variables apart."""
    tree = ast.parse(text)
    renaming = _Renaming()
    which = [launch["kernel"]]  # of the kernels in one class, or under one condition
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == launch["kernel"]:
            renaming.kernel(statement)
            which = []
    known = renaming.names
    arguments = sorted((known.get(n, n), _compiled(v)) for n, v in launch["arguments"].items())
    return digest(ast.unparse(tree), target, json.dumps([arguments, launch["options"], *which], sort_keys=True))


def told(launch: Mapping[str, Any]) -> str:
    """Equal for launches of one kernel of which the compiler is told the same."""
    arguments = sorted((name, _compiled(value)) for name, value in launch["arguments"].items())
    return json.dumps([launch["kernel"], arguments, launch["options"], launch.get("within")], sort_keys=True)


def _compiled(argument: Mapping[str, Any]) -> str:
    """What of an argument the compiler is told: of a number's value only whether it is one."""
    told = {k: v for k, v in argument.items() if k != "value"} | {"one": argument.get("value") == 1}
    return json.dumps(told, sort_keys=True)


class _Renaming(ast.NodeTransformer):
    """Parameters and variables of one function by their order; the text is a key, so no new name can be an old one."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def kernel(self, function: ast.FunctionDef) -> None:
        """Rename in place; the docstring goes."""
        parameters = [a.arg for a in _parameters(function.args)]
        stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        self.names = {name: f"${i}" for i, name in enumerate(dict.fromkeys([*parameters, *stored]))}
        function.name = "$"
        if ast.get_docstring(function) is not None:
            function.body = function.body[1:] or [ast.Pass()]
        self.generic_visit(function)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """A variable."""
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """A parameter."""
        node.arg = self.names.get(node.arg, node.arg)
        self.generic_visit(node)
        return node


def _parameters(arguments: ast.arguments) -> Sequence[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
