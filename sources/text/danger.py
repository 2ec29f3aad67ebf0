"""What a task has no business with: strangers will run it. Only what shows; the sandbox does the rest."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from sources.text.remembered import remembered
from sources.text.scope import nodes, reads, variable_of, walk

DANGEROUS = {"open", "exec", "eval", "input", "compile", "breakpoint", "__import__"}
# What fetches trained weights: there are none in a task.
FETCHING = {"load_url", "load_state_dict_from_url", "urlretrieve", "urlopen", "hf_hub_download"}
SUSPECT = re.compile(rf"(?<![.\w])(?:os|sys|{'|'.join(sorted(DANGEROUS))})\b")
# Of os and sys. What ends a program that was given something wrong is an exception like others.
HARMLESS = {"exit", "environ", "getenv", "path", "version_info", "maxsize", "float_info", "platform", "PathLike",
            "fspath", "sep", "linesep", "cpu_count", "byteorder"}  # fmt: skip
SPOKEN_TO = {"stdout", "stderr"}  # of sys: a log may say something there, and nothing may take their place
ITSELF = "sys.modules[__name__]"  # of a program


def touches_system(source: str) -> str:
    """The name by which a text touches the system, "" where it does not."""
    if not SUSPECT.search(source):
        return ""
    tree = ast.Module(list(_suspects(source)), [])
    for node in nodes(tree):
        taken = node.names if isinstance(node, ast.ImportFrom) and node.module in ("os", "sys") else []
        if isinstance(node, ast.ImportFrom) and not HARMLESS.issuperset(a.name for a in taken):
            return node.module or ""
    return dangerous(tree)


def dangerous(tree: ast.AST, skip: Callable[[ast.AST], bool] = lambda _: False) -> str:
    """The name of the system's that a tree reads outside of what it may ``skip``, "" where it reads none."""
    every = nodes(tree)
    if not any(isinstance(n, ast.Name) and (n.id in DANGEROUS or n.id in ("os", "sys")) for n in every):
        return ""
    fine = {id(n.value) for n in every if isinstance(n, ast.Attribute) and _is_harmless(n)}
    fine.update(_saying_itself(every))
    known = DANGEROUS - _defined(tree)
    named = (n for n in reads(tree, skip).names if n.id in known or (n.id in ("os", "sys") and id(n) not in fine))
    return next((n.id for n in named), "")


def _is_harmless(node: ast.Attribute) -> bool:
    return node.attr in HARMLESS or node.attr in SPOKEN_TO and isinstance(node.ctx, ast.Load)


def _defined(tree: ast.AST) -> set[str]:
    """Names that a text defines itself, or that it is the definition of: its own ``compile`` is not Python's."""
    every = tree.body if isinstance(tree, ast.Module) else [tree]
    return {s.name for s in every if isinstance(s, ast.FunctionDef | ast.ClassDef)}


def _saying_itself(every: Sequence[ast.AST]) -> Iterator[int]:
    """Names, by id, in ``sys.modules[__name__]`` where ``"..." % it`` says that: nothing is looked up in it."""
    for node in every:
        said = node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) else None
        for part in said.elts if isinstance(said, ast.Tuple) else [said]:
            if isinstance(part, ast.Subscript) and ast.unparse(part) == ITSELF:
                yield from (id(n) for n in walk(part) if isinstance(n, ast.Name))


@remembered
def harmful(tree: ast.AST) -> str:
    """The name of the system's that a tree reads outside of branches that a task does without."""
    left_out = {id(s) for s in branches(tree)}
    return dangerous(tree, lambda n: id(n) in left_out)


@remembered
def branches(tree: ast.AST) -> tuple[ast.stmt, ...]:
    """The statements of the smallest blocks under an ``if`` that touch the system: downloads, files of weights."""
    if not dangerous(tree) and not _fetches(tree):
        return ()
    found: dict[int, ast.stmt] = {}

    def known(node: ast.AST) -> bool:
        return id(node) in found

    for node in reversed([n for n in nodes(tree) if isinstance(n, ast.If)]):  # inner ones first
        for block in (node.body, node.orelse):
            chained = len(block) == 1 and isinstance(block[0], ast.If)
            if block and not chained and touches(block, known):
                found |= {id(s): s for s in block}
    return tuple(found.values())


def touches(block: list[ast.stmt], skip: Callable[[ast.AST], bool]) -> bool:
    """Whether statements touch the system, or fetch trained weights, outside of what they may ``skip``."""
    whole = ast.Module(block, [])
    return bool(dangerous(whole, skip)) or _fetches(whole, skip)


def fetching_only(tree: ast.AST) -> frozenset[int]:
    """The statements, by id, of such blocks that do nothing but fetch trained weights and put them somewhere.

    What they bind nothing else reads, so who gets there has the module with weights of its own, and goes on.
    """
    left_out, found = {id(s) for s in branches(tree)}, set[int]()
    for node in nodes(tree) if left_out else ():
        for block in (node.body, node.orelse) if isinstance(node, ast.If) else ():
            if block and left_out.issuperset(map(id, block)) and _is_idle(tree, block):
                found |= {id(s) for s in block}
    return frozenset(found)


def _is_idle(tree: ast.AST, block: list[ast.stmt]) -> bool:
    whole = ast.Module(block, [])
    inside = nodes(whole)
    if not _fetches(whole) or any(isinstance(n, ast.Return | ast.Yield | ast.Break | ast.Continue) for n in inside):
        return False
    stored = [
        n for n in inside if isinstance(n, ast.Name | ast.Attribute | ast.Subscript) and isinstance(n.ctx, ast.Store)
    ]
    bound, own = {n.id for n in stored if isinstance(n, ast.Name)}, {id(n) for n in inside}
    elsewhere = (n for n in nodes(tree) if isinstance(n, ast.Name) and id(n) not in own)
    return all(variable_of(n) in bound for n in stored) and all(n.id not in bound for n in elsewhere)


def _fetches(tree: ast.AST, skip: Callable[[ast.AST], bool] = lambda _: False) -> bool:
    """Whether a tree calls what fetches weights, outside of what it may ``skip``."""
    if not any(isinstance(n, ast.Attribute | ast.Name) and _name(n) in FETCHING for n in nodes(tree)):
        return False  # as nearly every tree, of which the nodes are known
    stack = [tree]
    while stack:
        node = stack.pop()
        if not skip(node):
            if isinstance(node, ast.Attribute | ast.Name) and _name(node) in FETCHING:
                return True
            stack.extend(ast.iter_child_nodes(node))
    return False


def _name(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def _suspects(source: str) -> Iterator[ast.stmt]:
    """The statements that say a name of the system's: whatever binds or reads one is among them."""
    lines, before = source.splitlines(), 0
    for statement in ast.parse(source).body:
        end = statement.end_lineno or len(lines)
        if any(map(SUSPECT.search, lines[min(before, statement.lineno - 1) : end])):
            yield statement
        before = end
