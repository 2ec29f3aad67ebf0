"""What of a text runs where a candidate does: all but functions of the task's that the candidate never names.

Files often hold the task beside its kernel, and the task may ask of torch what no candidate may.  Bodies of functions
only are left out, and of methods that nobody calls by himself: what stands beside them runs on import.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

ENTRY = "ModelNew"
KEPT = ("Module", "nn.Module", "torch.nn.Module")  # what the task's modules are made of


def reached(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes of a text but for such bodies."""
    left_out = {id(s) for body in _idle(tree) for s in body}
    queue: list[ast.AST] = [tree]
    while queue:
        node = queue.pop(0)
        yield node
        queue += [child for child in ast.iter_child_nodes(node) if id(child) not in left_out]


def _idle(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """The bodies of functions that stand at the top level, or in a plain module there, and are not reached."""
    if not any(isinstance(s, ast.ClassDef) and s.name == ENTRY for s in tree.body):
        return
    apart = {_named(s): s for s in tree.body if _is_apart(s)}
    others = [s for s in tree.body if apart.get(_named(s)) is not s]
    said = {n for s in others for n in _names(s)} | set(map(_named, others))  # of the same name is one of two
    while more := {n for name in said & apart.keys() for n in _names(apart[name])} - said:
        said |= more
    for name, statement in apart.items():
        if name not in said:
            parts = statement.body if isinstance(statement, ast.ClassDef) else [statement]
            yield from (part.body for part in parts if isinstance(part, ast.FunctionDef))


def _named(statement: ast.stmt) -> str:
    return getattr(statement, "name", "")


def _is_apart(statement: ast.stmt) -> bool:
    """Whether it is a function, or a module of plain methods, that runs where somebody calls it by its name only."""
    if isinstance(statement, ast.FunctionDef):
        return not statement.decorator_list
    if not isinstance(statement, ast.ClassDef) or statement.name == ENTRY:
        return False
    plain = all(ast.unparse(base) in KEPT for base in statement.bases) and not statement.keywords
    return plain and not statement.decorator_list and all(map(_is_plain, statement.body))


def _is_plain(statement: ast.stmt) -> bool:
    """Whether it is a method that Python does not call by itself, or says something about the class."""
    if isinstance(statement, ast.FunctionDef):
        return not statement.decorator_list and (statement.name == "__init__" or not statement.name.startswith("__"))
    return isinstance(statement, ast.Pass | ast.AnnAssign | ast.Assign | ast.Expr)


def _names(statement: ast.AST) -> Iterator[str]:
    """What a statement names: names, attributes, and texts that read like names."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
