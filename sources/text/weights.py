"""Statements that load trained weights: a task has none, so it does without them.

``self.load_state_dict(torch.load(path))``, what is done with the file's content in between, and what only says where
the file is, is dropped from the functions that a task holds.  Copies of weights from one part of a module to another
stay.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from sources.text.danger import FETCHING, branches, fetching_only, touches
from sources.text.remembered import remembered
from sources.text.scope import nodes, walk

LOADING = frozenset({"load_state_dict"})  # methods that put weights into a module
_FILES = ("torch.load", "np.load", "numpy.load")
_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign)


@remembered
def loading(tree: ast.AST) -> tuple[ast.stmt, ...]:
    """The statements of a definition's functions that load trained weights, or only handle what was loaded."""
    if not any(isinstance(n, ast.Attribute | ast.Name) and _loads(n) for n in nodes(tree)):
        return ()
    functions = (n for n in nodes(tree) if isinstance(n, ast.FunctionDef))
    return tuple({id(s): s for f in functions for s in _of_function(f)}.values())


@remembered
def left_out(tree: ast.AST) -> tuple[ast.stmt, ...]:
    """The statements that a task does without: what loads trained weights, and branches that touch the system."""
    beside = _beside(tree)
    return (*(s for s in branches(tree) if id(s) not in beside), *loading(tree))


def refused(tree: ast.AST) -> frozenset[int]:
    """Those of the branches, by id, that a task is not to enter: they do more than to load trained weights."""
    return frozenset(id(s) for s in branches(tree)) - fetching_only(tree) - _beside(tree)


@remembered
def _beside(tree: ast.AST) -> frozenset[int]:
    """The statements, by id, of branches that touch the system by nothing but what loads weights.

    What else such a branch does stays: ``if pretrained: load(...); model = with_other_layers(model)``.  Nothing of that
    is made of what was loaded.
    """
    touching = {id(s) for s in branches(tree)}
    lost = loading(tree) if touching else ()
    gone = {id(n) for s in lost for n in nodes(s)}
    found = set[int]()
    if any(isinstance(n, ast.Name) and n.id in _stored(lost) for n in nodes(tree) if id(n) not in gone):
        return frozenset()
    for node in nodes(tree) if gone else ():
        for block in (node.body, node.orelse) if isinstance(node, ast.If) else ():
            if block and touching.issuperset(map(id, block)) and not touches(block, lambda n: id(n) in gone):
                found |= {id(s) for s in block}
    return frozenset(found - fetching_only(tree))


def _of_function(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    statements = [n for n in nodes(function) if isinstance(n, ast.stmt) and n is not function]
    found: dict[int, ast.stmt] = {
        id(s): s for s in statements if isinstance(s, _SIMPLE) and any(map(_loads, nodes(s))) and not _copies(s)
    }
    while True:
        inside = {id(n) for s in found.values() for n in nodes(s)}
        named = {s.name for s in found.values() if isinstance(s, ast.FunctionDef)}
        stored, left = _stored(found.values()), [s for s in statements if id(s) not in inside]
        lost = named | stored - _stored(h for s in left for h in _targets(s))
        more = [s for s in left if _handles(s, lost) or _shares(s, stored, left) or _leads(s, inside, function)]
        if not more:
            return (yield from found.values())
        found |= {id(s): s for s in more}


def _shares(statement: ast.stmt, stored: set[str], left: Sequence[ast.stmt]) -> bool:
    """Whether an inner function says ``nonlocal`` of what is ``stored`` by what is dropped, and by nothing else."""
    said = {name for n in nodes(statement) if isinstance(n, ast.Nonlocal) for name in n.names}
    if not isinstance(statement, ast.FunctionDef) or not said & stored:
        return False
    own = {id(n) for n in nodes(statement)}
    return not said & stored <= _stored(h for s in left if id(s) not in own for h in _targets(s))


def _leads(statement: ast.stmt, inside: set[int], function: ast.FunctionDef) -> bool:
    """Whether a call's answer, a file's path perhaps, is read by what is dropped and at most printed elsewhere."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name) or not isinstance(getattr(statement, "value", None), ast.Call):
        return False
    printed = {id(n) for s in nodes(function) if _prints(s) for n in nodes(s)}
    reading = [id(n) for n in nodes(function) if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    return not inside.isdisjoint(reading) and (inside | printed).issuperset(reading)


def _prints(statement: ast.AST) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"


def _loads(node: ast.AST) -> bool:
    """Whether a name is one of a function that reads a file of weights, or puts weights into a module."""
    if isinstance(node, ast.Attribute):
        return node.attr in LOADING or node.attr in FETCHING or node.attr == "load" and ast.unparse(node) in _FILES
    return isinstance(node, ast.Name) and node.id in FETCHING


def _copies(statement: ast.stmt) -> bool:
    """Whether the weights are those of another module, which are no file."""
    calls = [n.func.attr for n in nodes(statement) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    return "state_dict" in calls and "load" not in calls


def _targets(statement: ast.stmt) -> list[ast.AST]:
    """Where a statement gives variables values itself, not by those inside of it."""
    if isinstance(statement, ast.For):
        return [statement.target]
    if isinstance(statement, ast.With):
        return [i.optional_vars for i in statement.items if i.optional_vars is not None]
    return [statement] if isinstance(statement, _SIMPLE) else []


def _stored(statements: Iterable[ast.AST]) -> set[str]:
    """Variables that statements, or parts of them, give a value."""
    stores = (n for s in statements for n in walk(s) if isinstance(n, ast.Name))
    return {n.id for n in stores if isinstance(n.ctx, ast.Store)}


def _handles(statement: ast.stmt, lost: set[str]) -> bool:
    """Whether a statement works on what is lost: all of it, or the head that decides on the rest."""
    if isinstance(statement, _SIMPLE):
        heads: list[ast.expr] = [n for n in ast.iter_child_nodes(statement) if isinstance(n, ast.expr)]
    elif isinstance(statement, ast.For):
        heads = [statement.iter]
    elif isinstance(statement, ast.If | ast.While | ast.Assert):
        heads = [statement.test]
    elif isinstance(statement, ast.Delete):
        heads = statement.targets
    else:
        return False
    return any(isinstance(n, ast.Name) and n.id in lost for head in heads for n in walk(head))


_FILLS = re.compile(r"_?(load|init|restore|resume)_\w*(weights?|pretrained|checkpoint|ckpt|state_dict|params)\w*")


def fills_weights(node: ast.stmt) -> bool:
    """Whether a function only reads a file and puts weights into a module that it is given: it answers nothing."""
    if not isinstance(node, ast.FunctionDef) or not _FILLS.fullmatch(node.name):
        return False
    inside = nodes(node)
    answers = any(isinstance(n, ast.Return) and n.value is not None or isinstance(n, ast.Yield) for n in inside)
    return not answers and any(isinstance(n, ast.Attribute) and ast.unparse(n) == "torch.load" for n in inside)
