"""Literals of compiled kernels that depend on numbers of the module: found by comparison, made arguments."""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kdata.align.inductor import Kernel, Module
from kdata.align.trees import Replace, Transformer, walk

NUMBER = "fp32"  # such an argument in a kernel's signature
EXACT = 1e-12
CLOSE = 3e-7  # some numbers were read off tensors of single precision
CHANGE = 0.1  # what a change may be off by, relatively: it is that of two numbers that are hardly different
LARGEST = 4096  # parts that a factor may be a fraction of
AS_IT_IS = ("x", "-x")
# What a literal may be of a number x; with a further number k, too, and how much that is for a literal of value v.
FORMS = (*AS_IT_IS, "1 - x", "1 / x", "x ** 2", "x ** 0.5", "x ** -0.5")
FACTORS = {"x * k": "v / x", "k / x": "v * x", "x + k": "v - x", "k - x": "v + x"}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number of the module's."""

    access: str  # how forward says it
    name: str
    parameter: str  # which its constructor is to keep; "" where an attribute holds it
    values: tuple[float, ...]  # one a build


def tell(values: Sequence[float], scalars: Sequence[Scalar]) -> tuple[str, Scalar] | None:
    """What a number is of which scalar, in every build: an expression of ``x``."""
    for forms, near in ((FORMS, EXACT), (AS_IT_IS, CLOSE)):
        for form in forms:
            for scalar in scalars:
                if _is(values, [_value(form, x=x) for x in scalar.values], near):
                    return form, scalar
        for form, factor in FACTORS.items():
            for scalar in scalars if near == EXACT else ():
                found = [_value(factor, v=v, x=x) for v, x in zip(values, scalar.values, strict=True)]
                if (k := _one_number(found)) is not None:
                    return form.replace("k", k), scalar
    return None


def _tell_quotient(values: tuple[float, float], scalars: Sequence[Scalar]) -> tuple[str, Scalar] | None:
    """The same, also where the compiler multiplies for a division: by ``1 / (x + 2)``."""
    if (found := tell(values, scalars)) is None and (below := tell([_value("1 / v", v=v) for v in values], scalars)):
        return f"1 / ({below[0]})", below[1]
    return found


def _is(values: Sequence[float], others: Sequence[float], near: float) -> bool:
    """Whether numbers are others, and change as these do: ``1 + 1e-7`` is nearly ``1 - 1e-7``."""
    changes = [(b - values[0], d - others[0]) for b, d in zip(values[1:], others[1:], strict=True)]
    return all(math.isclose(a, b, rel_tol=near) for a, b in zip(values, others, strict=True)) and all(
        math.isclose(a, b, rel_tol=CHANGE) for a, b in changes
    )


def _value(form: str, **numbers: float) -> float:
    """What an expression comes to; not a number where it does not come to a real one."""
    try:
        value = eval(form, {}, numbers)  # noqa: S307 - one of those above
    except ArithmeticError:
        return math.nan
    return value if isinstance(value, float) else math.nan


def _one_number(found: Sequence[float]) -> str | None:
    """Numbers that are one but for rounding, as text: a fraction if it is one of small numbers."""
    first = found[0]
    if not all(math.isfinite(k) and math.isclose(k, first, rel_tol=EXACT) for k in found):
        return None
    near = Fraction(first).limit_denominator(LARGEST)
    return f"({near})" if math.isclose(first, near, rel_tol=EXACT) else f"({first:.12g})"


def pass_on(first: Module, second: Module, scalars: Sequence[Scalar]) -> dict[str, Scalar]:
    """Make the literals in which two texts differ arguments of the first one's kernels.

    Args:
        first: a text; it stays as it is where the texts differ in other things, or a literal cannot be told.
        second: the text of another build.
        scalars: their values in the two builds.

    Returns:
        The scalars that the first one's wrapper now passes, by what it calls them.
    """
    if not _differ_in_literals_only(first, second):
        return {}
    used: dict[Scalar, str] = {}
    told: dict[str, dict[int, str]] = {}
    for name, kernel in first.kernels.items():
        told[name], doubles = {}, _doubles(kernel.function)
        literals = zip(_literals(kernel.function), _literals(second.kernels[name].function), strict=True)
        for (literal, a), (_, b) in literals:
            if a != b:
                if id(literal) in doubles or (found := _tell_quotient((a, b), scalars)) is None:
                    return {}
                form, scalar = found
                symbol = ast.Name(used.setdefault(scalar, f"scalar{len(used)}"), ast.Load())
                said = Replace({"x": symbol}).visit(ast.parse(form, mode="eval").body)
                told[name][id(literal)] = ast.unparse(said)
    for name, changes in told.items():
        _pass_to(first, first.kernels[name], changes)
    return {symbol: scalar for scalar, symbol in used.items()}


def called(module: Module) -> set[str]:
    """The functions that a text's kernels call."""
    nodes = (n for kernel in module.kernels.values() for n in walk(kernel.function))
    return {ast.unparse(n.func) for n in nodes if isinstance(n, ast.Call) and not isinstance(n.func, ast.Call)}


def _differ_in_literals_only(first: Module, second: Module) -> bool:
    """Whether two texts are the same but for literals in kernels."""
    if list(first.kernels) != list(second.kernels):
        return False
    pairs = [(kernel, second.kernels[name]) for name, kernel in first.kernels.items()]
    return _rest(first) == _rest(second) and all(
        a.signature == b.signature and _without_literals(a.function) == _without_literals(b.function) for a, b in pairs
    )


def _doubles(function: ast.FunctionDef) -> set[int]:
    """Literals of double precision, by id: arguments are of single precision."""
    calls = (n for n in walk(function) if isinstance(n, ast.Call) and ast.unparse(n.func) == "tl.full")
    return {id(c.args[1]) for c in calls if ast.unparse(c.args[2]) == "tl.float64"}


def _rest(module: Module) -> list[str]:
    combines = [c for kernel in module.kernels.values() for c in kernel.combines]
    return [ast.dump(s) for s in (*module.body, *module.returns, *combines)]


def _without_literals(function: ast.FunctionDef) -> str:
    tree = copy.deepcopy(function)
    _Arguments({id(literal): "literal" for literal, _ in _literals(tree)}).visit(tree)
    return ast.dump(tree)


def _literals(function: ast.FunctionDef) -> list[tuple[ast.expr, float]]:
    """The floating-point numbers of a kernel, with their signs, in one order."""
    found: list[tuple[ast.expr, float]] = []
    signed: set[int] = set()
    for node in walk(function):  # the sign before what it is of
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=float() as value) as unsigned):
                found.append((node, -value))
                signed.add(id(unsigned))
            case ast.Constant(value=float() as value) if id(node) not in signed:
                found.append((node, value))
    return found


class _Arguments(Transformer):
    """Puts names for literals; ``tl.full([1, 1], rate, tl.float32)`` is ``rate``."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self.names = names

    def visit(self, node: ast.AST) -> Any:
        return ast.Name(self.names[id(node)], ast.Load()) if id(node) in self.names else super().visit(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        full = isinstance(node.func, ast.Attribute) and node.func.attr == "full"
        passed = full and id(node.args[1]) in self.names
        self.generic_visit(node)
        return node.args[1] if passed else node


def _pass_to(module: Module, kernel: Kernel, told: Mapping[int, str]) -> None:
    """Give a kernel an argument for each different expression, and each of its calls the expression."""
    names = {said: f"number{i}" for i, said in enumerate(dict.fromkeys(told.values()))}
    _Arguments({literal: names[said] for literal, said in told.items()}).visit(kernel.function)
    blocks = {a: kind for a, kind in kernel.signature.items() if a.endswith("BLOCK")}
    others = {a: kind for a, kind in kernel.signature.items() if a not in blocks}
    kernel.signature = {**others, **dict.fromkeys(names.values(), NUMBER), **blocks}
    for statement in module.body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=kernel.name), attr="run")) as launch):
                launch.args += [ast.parse(said, mode="eval").body for said in names]
