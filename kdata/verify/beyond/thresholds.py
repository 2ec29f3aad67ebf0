"""Numbers of a candidate's text from which on it may do something else: sizes are tried on both sides of each."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from kdata.verify.candidate.subset import jitted
from kdata.verify.constants import name_of, whole

LEAST = 512  # smaller ones lie among the sizes at which every candidate is judged
ALWAYS = 1 << 15  # from here on a number is no block's size: it counts wherever it stands
BEYOND = 1 << 31  # from here on indices of 32 bits do not do, and kernels may well be others
MOST = 8
EXACTLY = 9  # from here on a size may be one that is asked for by itself; smaller ones are those of other sizes, or few
FEW = 4
CAP = 16  # from here on a number may be one of blocks, or of elements, beyond which nothing is done
EQUALS = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
LEAST_OF = frozenset({"min", "minimum", "clamp"})
REDUCTIONS = frozenset(
    "sum max min argmax argmin reduce xor_sum dot associative_scan cumsum cumprod sort topk softmax".split()
)


def thresholds(text: str) -> tuple[int, ...]:
    """Numbers that tests ask about, by themselves or by a name that is given them, of tables, and all large ones."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    asking = [test for test in map(_test, nodes) if test is not None]
    said = _said(asking + [part for node in nodes for part in _looked_up(node)], nodes)
    said |= {value for node in nodes if (value := whole(node)) is not None and value >= ALWAYS}
    said |= {reciprocal(node) for node in _outside_kernels(tree)}
    found = sorted(value for value in said if value is not None and LEAST <= value < BEYOND)
    return tuple(found[: MOST // 2] + found[MOST // 2 :][-MOST // 2 :])


def exactly(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers that something is compared with, in tests and tables, and such as a rest is asked for."""
    nodes = list(ast.walk(ast.parse(text)))
    equal = [node for node in nodes if isinstance(node, ast.Compare) and isinstance(node.ops[0], EQUALS)]
    tests = [part for test in map(_test, nodes) if test is not None for part in ast.walk(test)]
    rests = [part.right for part in tests if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod)]
    tables = [part for node in nodes for part in _looked_up(node)]
    multiples = _said(rests, nodes)
    return _some(_said([*equal, *tables], nodes) - multiples), _some(multiples)


def _said(parts: Sequence[ast.AST], nodes: Sequence[ast.AST]) -> set[int | None]:
    """The numbers of some parts of a text, by themselves or by a name that is given them."""
    every = [node for part in parts for node in ast.walk(part)]
    names = {name_of(node) for node in every} - {""}
    return {whole(node) for node in every} | {value for node in nodes for value in _given(node, names)}


def _some(numbers: Iterable[int | None]) -> tuple[int, ...]:
    """Of several the largest ones."""
    return tuple(sorted({n for n in numbers if n is not None and EXACTLY <= n < BEYOND})[-FEW:])


def branches(text: str) -> bool:
    """Whether what calls the kernels does now one thing, now another."""
    return any(_test(node) is not None or _shifts(node) for node in _outside_kernels(ast.parse(text)))


def reciprocal(node: ast.AST) -> int | None:
    """What a product with a small fraction comes to one at: ``int(n * 1e-7)`` is nothing for all sizes before it."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return None
    factors = [part.value for part in (node.left, node.right) if isinstance(part, ast.Constant)]
    return next((round(1 / f) for f in factors if type(f) is float and 1 / BEYOND < f <= 1 / LEAST), None)


def _outside_kernels(tree: ast.Module) -> Iterator[ast.AST]:
    """What functions hold that are no kernels."""
    kernels = {id(node) for kernel in jitted(tree) for node in ast.walk(kernel)}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and id(node) not in kernels]
    yield from (node for function in functions for node in ast.walk(function) if id(node) not in kernels)


def caps(text: str) -> bool:
    """Whether it may stop short of what large sizes ask for: at the least of two, at a slice's end, by a quotient."""
    return any(_caps(node) for node in ast.walk(ast.parse(text)))


def _caps(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        plain = [whole(argument) for argument in node.args]
        return name_of(node.func) in LEAST_OF and None in plain and any(v is not None and v >= CAP for v in plain)
    if isinstance(node, ast.Slice):
        ends = [whole(end) for end in (node.lower, node.upper) if end is not None]
        return any(v is not None and abs(v) >= CAP for v in ends)
    divides = isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod) and whole(node) is None
    return divides and (whole(node.right) or 0) >= LEAST  # type: ignore[attr-defined]  # it is a BinOp


def reduces_at_once(text: str) -> set[str]:
    """Kernels that reduce, and do so without a loop."""
    return {
        kernel.name
        for kernel in jitted(ast.parse(text))
        if not any(isinstance(node, ast.For | ast.While) for node in ast.walk(kernel))
        and any(isinstance(node, ast.Attribute) and node.attr in REDUCTIONS for node in ast.walk(kernel))
    }


def counted_loops(text: str) -> dict[str, set[str]]:
    """Names of which kernels' loops take their ends, by the kernels that have such loops."""
    found: dict[str, set[str]] = {}
    for kernel in jitted(ast.parse(text)):
        fixed = {
            a.arg for a in kernel.args.args if a.annotation is not None and "constexpr" in ast.unparse(a.annotation)
        }
        ends = [end for n in ast.walk(kernel) if isinstance(n, ast.For) and isinstance(n.iter, ast.Call)
                for end in n.iter.args[:2]]  # fmt: skip
        found[kernel.name] = {n.id for end in ends for n in ast.walk(end) if isinstance(n, ast.Name)} & fixed
    return {name: names for name, names in found.items() if names}


def _test(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        return node.test
    return node if isinstance(node, ast.Compare) else None


def _looked_up(node: ast.AST) -> list[ast.expr]:
    """A table and what stands for its missing entries, where an entry is looked up that is not said, or a match."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return [node.func.value, *node.args]
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name | ast.Dict | ast.List | ast.Tuple):
        return [] if isinstance(node.slice, ast.Constant | ast.Slice | ast.UnaryOp) else [node.value]
    if isinstance(node, ast.Match):
        return [part.value for part in ast.walk(node) if isinstance(part, ast.MatchValue)]
    return []


def _shifts(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.RShift)


def _given(node: ast.AST, asked: set[str]) -> Iterator[int | None]:
    """What names of ``asked`` are bound to here."""
    if isinstance(node, ast.arguments):
        last = [*node.posonlyargs, *node.args][::-1]
        pairs = [*zip(last, node.defaults[::-1], strict=False), *zip(node.kwonlyargs, node.kw_defaults, strict=True)]
        yield from (whole(value) for name, value in pairs if value is not None and name.arg in asked)
    elif isinstance(node, ast.keyword) and node.arg in asked:
        yield whole(node.value)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.Assign) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from _bound(target, node.value, asked)


def _bound(target: ast.expr, value: ast.expr, asked: set[str]) -> Iterator[int | None]:
    """What a target is given, each of several its own; of a table that is asked about all that stands in it."""
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for part, given in zip(target.elts, value.elts, strict=False):
            yield from _bound(part, given, asked)
    elif name_of(target) in asked:
        tables = ast.Tuple | ast.List | ast.Dict | ast.Set
        yield from map(whole, ast.iter_child_nodes(value)) if isinstance(value, tables) else [whole(value)]
