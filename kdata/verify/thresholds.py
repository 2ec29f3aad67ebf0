"""Numbers of a candidate's text from which on it may do something else: sizes are tried on both sides of each."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from operator import add, floordiv, lshift, mul, sub

from kdata.verify.subset import jitted

LEAST = 512  # smaller ones lie among the sizes at which every candidate is judged
ALWAYS = 1 << 15  # from here on a number is no block's size: it counts wherever it stands
BEYOND = 1 << 31  # from here on indices of 32 bits do not do, and kernels may well be others
MOST = 8
FOLDED: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.FloorDiv: floordiv, ast.LShift: lshift, ast.Pow: pow,
}  # fmt: skip
REDUCTIONS = frozenset(
    "sum max min argmax argmin reduce xor_sum dot associative_scan cumsum cumprod sort topk softmax".split()
)
GROWING = (ast.LShift, ast.Pow)
BITS = 62


def whole(node: ast.AST) -> int | None:
    """What an expression of whole numbers comes to; None where it is something else."""
    if isinstance(node, ast.Constant):
        value = node.value
        integral = type(value) is int or (type(value) is float and abs(value) < 1 << BITS and value.is_integer())
        return int(value) if integral else None  # type: ignore[arg-type]  # it is one of the two
    if not isinstance(node, ast.BinOp) or type(node.op) not in FOLDED:
        return None
    left, right = whole(node.left), whole(node.right)
    if left is None or right is None or (isinstance(node.op, ast.FloorDiv) and right == 0):
        return None
    if isinstance(node.op, GROWING) and not (right >= 0 and right * max(1, abs(left).bit_length()) <= 4 * BITS):
        return None
    return FOLDED[type(node.op)](left, right)


def thresholds(text: str) -> tuple[int, ...]:
    """Numbers that tests ask about, by themselves or by a name that is given them, and all large ones."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    tests = [part for test in map(_test, nodes) if test is not None for part in ast.walk(test)]
    asked = {_name(part) for part in tests} - {""}
    said = {whole(part) for part in tests} | {value for node in nodes for value in _given(node, asked)}
    said |= {value for node in nodes if (value := whole(node)) is not None and value >= ALWAYS}
    found = sorted(value for value in said if value is not None and LEAST <= value < BEYOND)
    return tuple(found[: MOST // 2] + found[MOST // 2 :][-MOST // 2 :])


def branches(text: str) -> bool:
    """Whether what calls the kernels does now one thing, now another."""
    tree = ast.parse(text)
    kernels = {id(node) for kernel in jitted(tree) for node in ast.walk(kernel)}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and id(node) not in kernels]
    nodes = (node for function in functions for node in ast.walk(function) if id(node) not in kernels)
    return any(_test(node) is not None or _shifts(node) for node in nodes)


def reduces_at_once(text: str) -> set[str]:
    """Kernels that reduce, and do so without a loop."""
    return {
        kernel.name
        for kernel in jitted(ast.parse(text))
        if not any(isinstance(node, ast.For | ast.While) for node in ast.walk(kernel))
        and any(isinstance(node, ast.Attribute) and node.attr in REDUCTIONS for node in ast.walk(kernel))
    }


def _test(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        return node.test
    return node if isinstance(node, ast.Compare) else None


def _shifts(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.RShift)


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _given(node: ast.AST, asked: set[str]) -> Iterator[int | None]:
    """What names of ``asked`` are bound to here."""
    if isinstance(node, ast.arguments):
        last = [*node.posonlyargs, *node.args][::-1]
        pairs = [*zip(last, node.defaults[::-1], strict=False), *zip(node.kwonlyargs, node.kw_defaults, strict=True)]
        yield from (whole(value) for name, value in pairs if value is not None and name.arg in asked)
    names = {node.arg} if isinstance(node, ast.keyword) else set()
    if isinstance(node, ast.Assign | ast.AnnAssign):
        names = {_name(target) for target in (node.targets if isinstance(node, ast.Assign) else [node.target])}
    if names & asked and isinstance(node, ast.Assign | ast.AnnAssign | ast.keyword) and node.value is not None:
        yield whole(node.value)
