"""Literals of compiled kernels that depend on numbers of the module: found by comparison, made arguments."""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kdata.align.inductor import Kernel, Module
from kdata.align.trees import Transformer, walk

NUMBER = "fp32"  # such an argument in a kernel's signature
CLOSE = 3e-7  # of literals to what they should be: some were read off tensors of single precision
EXACT = 1e-12
LARGEST = 4096  # parts that a factor may be a fraction of
# What a literal may be of a number x, without a further number and with one, k, that both values have to agree on.
FORMS: dict[str, Callable[[float], float]] = {
    "{x}": lambda x: x, "-{x}": lambda x: -x, "1 - {x}": lambda x: 1 - x, "1 / {x}": lambda x: 1 / x,
    "{x} ** 2": lambda x: x * x, "{x} ** 0.5": lambda x: abs(x) ** 0.5, "{x} ** -0.5": lambda x: abs(x) ** -0.5,
}  # fmt: skip
FACTORS: dict[str, Callable[[float, float], float]] = {
    "{x} * {k}": lambda value, x: value / x, "{k} / {x}": lambda value, x: value * x,
    "{x} + {k}": lambda value, x: value - x, "{k} - {x}": lambda value, x: value + x,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number of the module's."""

    access: str  # how forward says it
    name: str
    parameter: str  # which its constructor is to keep; "" where an attribute holds it
    values: tuple[float, float]  # at the first build and at the second


def pass_on(first: Module, second: Module, scalars: Sequence[Scalar]) -> dict[str, Scalar] | None:
    """Make the literals in which two texts differ arguments of the first one's kernels.

    Returns:
        The scalars that its wrapper now passes, by what it calls them; None, and the text as it was, where the texts
        differ in other things or a literal cannot be told.
    """
    if not _differ_in_literals_only(first, second):
        return None
    used: dict[Scalar, str] = {}
    told: dict[str, dict[int, str]] = {}
    for name, kernel in first.kernels.items():
        told[name] = {}
        literals = zip(_literals(kernel.function), _literals(second.kernels[name].function), strict=True)
        for (literal, a), (_, b) in literals:
            if a != b:
                if (found := _tell((a, b), scalars)) is None:
                    return None
                form, scalar = found
                told[name][id(literal)] = form.format(x=used.setdefault(scalar, f"scalar{len(used)}"))
    for name, changes in told.items():
        _pass_to(first, first.kernels[name], changes)
    return {symbol: scalar for scalar, symbol in used.items()}


def _differ_in_literals_only(first: Module, second: Module) -> bool:
    """Whether two texts are the same but for literals in kernels, and of single precision, as arguments are."""
    if list(first.kernels) != list(second.kernels):
        return False
    if any("*fp64" in kernel.signature.values() for kernel in first.kernels.values()):
        return False
    pairs = [(kernel, second.kernels[name]) for name, kernel in first.kernels.items()]
    return _rest(first) == _rest(second) and all(
        a.signature == b.signature and _without_literals(a.function) == _without_literals(b.function) for a, b in pairs
    )


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


def _tell(values: tuple[float, float], scalars: Sequence[Scalar]) -> tuple[str, Scalar] | None:
    """What a literal is of which scalar, both times."""
    for form, of in FORMS.items():
        for scalar in scalars:
            if all(math.isclose(value, of(x), rel_tol=CLOSE) for value, x in zip(values, scalar.values, strict=True)):
                return form, scalar
    for form, factor in FACTORS.items():
        for scalar in scalars:
            found = [factor(value, x) for value, x in zip(values, scalar.values, strict=True)]
            if (k := _one_number(*found)) is not None:
                return form.replace("{k}", k), scalar
    return None


def _one_number(a: float, b: float) -> str | None:
    """Two numbers that are one but for rounding, as text: a fraction if it is one of small numbers."""
    if not math.isclose(a, b, rel_tol=EXACT):
        return None
    near = Fraction(a).limit_denominator(LARGEST)
    return f"({near})" if math.isclose(a, near, rel_tol=EXACT) else f"({a:.12g})"


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
