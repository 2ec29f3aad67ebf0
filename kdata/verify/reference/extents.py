"""What a text says of the sizes of its tensors, and which of these it takes to differ. No torch: both sides ask."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from itertools import combinations

from kdata.verify import constants

APART = ast.Sub, ast.FloorDiv, ast.Div, ast.Mod
Extent = tuple[str, int]  # a tensor and one of its dimensions


def apart(source: str) -> frozenset[int]:
    """The dimensions along which a text subtracts one tensor's size from another's, or divides it: meant to differ.

    ``S - L`` in a causal mask of keys and queries, ``heads // groups``.
    """
    found: frozenset[int] = frozenset()
    for function in (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)):
        names: dict[str, Extent] = {}
        for node in (n for n in ast.walk(function) if isinstance(n, ast.Assign)):
            for target in node.targets:
                names |= _sizes_named(target, node.value)
        for binary in (n for n in ast.walk(function) if isinstance(n, ast.BinOp) and isinstance(n.op, APART)):
            one, other = (_extent(side, names) for side in (binary.left, binary.right))
            if one and other and one[0] != other[0]:
                found |= {one[1], other[1]}
    return found


def asked_apart(source: str) -> frozenset[int]:
    """The dimensions of which a function asks two inputs and uses both answers: its kernel is told of either.

    ``B, H, T, D = q.shape`` and ``S = k.shape[2]``, counted from either end. An assertion is no use, and neither
    weights nor what has another number of dimensions, ``N, K = w.shape``, tell anything of queries and keys.
    """
    found: frozenset[int] = frozenset()
    for function in (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)):
        asserted = {id(n) for test in ast.walk(function) if isinstance(test, ast.Assert) for n in ast.walk(test)}
        used = {n.id for n in ast.walk(function)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in asserted}  # fmt: skip
        asked: dict[int, dict[str, int]] = {}  # which tensors, and how many dimensions each has; 0 where that is unsaid
        for node in (n for n in ast.walk(function) if isinstance(n, ast.Assign)):
            for target in node.targets:
                whole = not isinstance(node.value, ast.Tuple)
                count = len(target.elts) if isinstance(target, ast.Tuple) and whole else 0  # of its dimensions
                for name, (tensor, dim) in _sizes_named(target, node.value).items():
                    for place in {dim, dim - count} if name in used and not tensor.startswith("self.") else ():
                        of_place = asked.setdefault(place, {})
                        of_place[tensor] = count or of_place.get(tensor, 0)
        found |= {dim for dim, ranks in asked.items()
                  if any(0 in pair or pair[0] == pair[1] for pair in combinations(ranks.values(), 2))}  # fmt: skip
    return found


def _sizes_named(target: ast.expr, value: ast.expr) -> dict[str, Extent]:
    """The sizes that names are bound to: ``L, S = q.shape[1], k.size(1)``, ``b, n, d = q.shape``."""
    if not isinstance(target, ast.Tuple):
        extent = _extent(value, {})
        return {target.id: extent} if isinstance(target, ast.Name) and extent else {}
    if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
        pairs = zip(target.elts, value.elts, strict=True)
        return {name: extent for one, other in pairs for name, extent in _sizes_named(one, other).items()}
    if (whole := _shape(value)) is None:
        return {}
    return {name.id: (whole, dim) for dim, name in enumerate(target.elts) if isinstance(name, ast.Name)}


def _extent(value: ast.expr, known: Mapping[str, Extent]) -> Extent | None:
    """The tensor and the dimension of which an expression is the size."""
    if isinstance(value, ast.Name):
        return known.get(value.id)
    place = value.slice if isinstance(value, ast.Subscript) else None
    if isinstance(value, ast.Call) and len(value.args) == 1:
        value, place = ast.Call(value.func, [], []), value.args[0]
    whole = _shape(value.value if isinstance(value, ast.Subscript) else value)
    dim = _signed(place) if place is not None else None
    return (whole, dim) if whole is not None and dim is not None else None


def _signed(place: ast.expr) -> int | None:
    if isinstance(place, ast.UnaryOp) and isinstance(place.op, ast.USub):
        number = constants.whole(place.operand)
        return None if number is None else -number
    return constants.whole(place)


def _shape(value: ast.expr) -> str | None:
    """The tensor of which an expression is the shape: ``q.shape``, ``q.size()``."""
    if isinstance(value, ast.Call) and not value.args:
        value = value.func
    return ast.unparse(value.value) if isinstance(value, ast.Attribute) and value.attr in ("shape", "size") else None
