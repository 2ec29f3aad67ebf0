"""Sizes that a task's module and a candidate's say in their constructors, as arguments of both. The trusted side.

``nn.Linear(4096, 4096)`` in a constructor without arguments leaves nothing that could be scaled down. Where all that a
candidate says of such a number is said in its own constructor, both constructors can take it instead: at the task's own
value they do what they did.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from kdata.record import Candidate
from kdata.task import INIT_INPUTS, INPUTS, TaskError, parse
from kdata.verify.constants import whole

LEAST = 128  # smaller ones are structure, and no reason why a task is too large
NAME = "lifted_{}"


def lifted(candidate: Candidate) -> Candidate | None:
    """The candidate and its task with such sizes as arguments, ids being what they are; None where there are none."""
    try:
        task, text = parse(candidate.task.source), ast.parse(candidate.source)
    except (TaskError, SyntaxError, ValueError):
        return None
    ours, theirs = _constructor(task, candidate.task.entry_point), _constructor(text, "ModelNew")
    if ours is None or theirs is None or not _takes_nothing(task, ours, theirs):
        return None
    own = {id(node) for node in ast.walk(theirs)}
    elsewhere = {
        whole(n) for part in _candidates(text, candidate.task.entry_point) for n in ast.walk(part) if id(n) not in own
    }
    numbers = sorted({v for v, _ in _said(ours)} & {v for v, _ in _said(theirs)} - elsewhere)
    if not numbers:
        return None
    for constructor in (ours, theirs):
        _take(constructor, numbers)
    _give(task, numbers)
    changed = replace(candidate.task, source=ast.unparse(task))
    return replace(candidate, source=ast.unparse(text), task=changed)


def _constructor(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    classes = [s for s in tree.body if isinstance(s, ast.ClassDef) and s.name == name]
    found = [s for c in classes for s in c.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"]
    return found[0] if len(found) == 1 else None


def _takes_nothing(task: ast.Module, *constructors: ast.FunctionDef) -> bool:
    """Whether the constructors have no parameters, and the task gives them none."""
    bare = all(len(a.args) == 1 and not (a.kwonlyargs or a.vararg or a.kwarg) for a in (c.args for c in constructors))
    given = [s for s in task.body if isinstance(s, ast.FunctionDef) and s.name == INIT_INPUTS]
    returns = [n.value for s in given for n in ast.walk(s) if isinstance(n, ast.Return)]
    return bare and all(isinstance(value, ast.List) and not value.elts for value in returns) and len(returns) <= 1


def _candidates(tree: ast.Module, entry_point: str) -> Iterator[ast.stmt]:
    """The statements of a text that may hold its task, too, but for the task's."""
    yield from (s for s in tree.body if getattr(s, "name", "") not in (entry_point, INPUTS, INIT_INPUTS))


def _said(constructor: ast.FunctionDef) -> Iterator[tuple[int, ast.expr]]:
    """Large literals that are arguments of calls, with their values."""
    for call in (n for n in ast.walk(constructor) if isinstance(n, ast.Call)):
        for node in (*call.args, *(k.value for k in call.keywords)):
            if isinstance(node, ast.Constant) and type(node.value) is int and node.value >= LEAST:
                yield node.value, node


def _take(constructor: ast.FunctionDef, numbers: list[int]) -> None:
    """Let a constructor take the numbers in place of saying them."""
    names = {id(node): NAME.format(value) for value, node in _said(constructor) if value in numbers}

    class Naming(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.expr:
            name = names.get(id(node))
            return node if name is None else ast.copy_location(ast.Name(name, ast.Load()), node)

    constructor.body = [Naming().visit(statement) for statement in constructor.body]
    constructor.args.args += [ast.arg(NAME.format(number)) for number in numbers]


def _give(task: ast.Module, numbers: list[int]) -> None:
    """Let the task give them."""
    task.body = [s for s in task.body if getattr(s, "name", "") != INIT_INPUTS]
    task.body += ast.parse(f"def {INIT_INPUTS}():\n    return {numbers!r}").body
