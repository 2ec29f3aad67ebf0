"""Python's ``int``, ``float``, ``len``, ``max`` and ``min``, and ``numel`` of a shape, for symbols: all stay some.

Python asks ``__int__`` and ``__len__`` for a number and decides which is the larger one, so the task's calls are
renamed in its tree.  A quotient is rounded down, which is what ``int`` does with positive numbers.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable
from typing import Any

import sympy
import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils._sympy import functions

WHOLE, WHOLE_TYPE, NUMEL, REAL, RATES = "__whole__", "__whole_type__", "__numel__", "__real__", "__rates__"
LENGTH, LARGEST, LEAST = "__length__", "__largest__", "__least__"
RENAMED = {"int": WHOLE, "float": REAL, "len": LENGTH, "max": LARGEST, "min": LEAST}
_plain_floor, _plain_ceil = math.floor, math.ceil
SYMBOLS = torch.SymInt | torch.SymFloat
LARGEST_DENOMINATOR = 64  # beyond it a float's rounding could decide the quotient


class WholeNumbers(ast.NodeTransformer):
    """Renames calls of these, and lets ``isinstance(n, int)`` hold for symbols.

    The larger of two numbers that a constructor makes a layer of is the task's, whose weights are not resized.
    """

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """A name that the task gives to something else is that, ``from torch import max`` for one."""
        imported = (a.asname or a.name for n in node.body if isinstance(n, ast.ImportFrom) for a in n.names)
        own = {*imported, *(n.name for n in node.body if isinstance(n, ast.FunctionDef))}
        self._known = {name: said for name, said in RENAMED.items() if name not in own}
        self.generic_visit(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if node.name != "__init__":
            for call in ast.walk(node):
                match call:
                    case ast.Call(func=ast.Name("max" | "min" as name) as function, args=[_, *_], keywords=[]):
                        function.id = self._known.get(name, name)
        self.generic_visit(node)
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.ListComp:
        """``[x.item() for x in torch.linspace(0, drop_path, depth)]``: fake tensors have no items."""
        self.generic_visit(node)
        match node:
            case ast.ListComp(
                elt=ast.Call(func=ast.Attribute(value=ast.Name(), attr="item")),
                generators=[ast.comprehension(iter=ast.Call(ast.Attribute(ast.Name("torch"), "linspace")) as made)],
            ):
                made.func = ast.copy_location(ast.Name(RATES, ast.Load()), made.func)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name("int" | "float" | "len" as word) as function, args=[_]):
                function.id = self._known.get(word, word)
            case ast.Call(func=ast.Attribute(value=value, attr="numel"), args=[], keywords=[]):
                made = ast.Call(ast.Name(NUMEL, ast.Load()), [value], [])
                return ast.fix_missing_locations(ast.copy_location(made, node))
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id="int") as kind]):
                kind.id = WHOLE_TYPE
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Tuple(elts=kinds)]):
                for name in kinds:
                    if isinstance(name, ast.Name) and name.id == "int":
                        name.id = WHOLE_TYPE
        return node


def whole(value: Any) -> Any:
    """``int(value)``, which of a symbolic number is symbolic where it can be said exactly."""
    return _quotient(value, int, up=False)


def floor(value: Any) -> Any:
    """``math.floor(value)``, likewise."""
    return _quotient(value, _plain_floor, up=False)


def ceil(value: Any) -> Any:
    """``math.ceil(value)``, likewise."""
    return _quotient(value, _plain_ceil, up=True)


def _quotient(value: Any, otherwise: Callable[[Any], Any], up: bool) -> Any:
    if isinstance(value, torch.SymInt):
        return value
    if isinstance(value, torch.SymFloat) and (expression := _rounded(value.node.expr, up)) is not None:
        environment = value.node.shape_env
        hint = expression.xreplace(environment.backed_var_to_val)
        if hint.is_Integer and hint > 0:
            return environment.create_symintnode(expression, hint=int(hint))
    return otherwise(value)


def real(value: Any) -> Any:
    """``float(value)``, which of a size is symbolic."""
    return torch.sym_float(value) if isinstance(value, SYMBOLS) else float(value)


class _RealType(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, float)


class Real(metaclass=_RealType):
    """In place of ``float`` in a module of torch, which also asks ``isinstance(x, float)``."""

    def __new__(cls, value: Any = 0.0) -> Any:
        return real(value)


def numel(value: Any) -> Any:
    """``value.numel()``, which of a shape with symbols is symbolic."""
    return math.prod(value) if isinstance(value, torch.Size) else value.numel()


def length(value: Any) -> Any:
    """``len(value)``, which of a tensor with symbols is symbolic."""
    return value.shape[0] if isinstance(value, torch.Tensor) and value.ndim else len(value)


def largest(*values: Any) -> Any:
    """``max(*values)``, likewise."""
    return functools.reduce(torch.sym_max, *_numbers(values)) if _symbolic(values) else max(*values)


def least(*values: Any) -> Any:
    """``min(*values)``, likewise."""
    return functools.reduce(torch.sym_min, *_numbers(values)) if _symbolic(values) else min(*values)


def _numbers(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return values if len(values) == 1 else (values,)


def _symbolic(values: tuple[Any, ...]) -> bool:
    """Whether all are numbers, in one sequence or not, and one of them is a symbol."""
    [numbers] = _numbers(values)
    if not isinstance(numbers, tuple | list) or not all(isinstance(n, int | float | SYMBOLS) for n in numbers):
        return False
    return any(isinstance(n, SYMBOLS) for n in numbers)


class Rate(float):
    """A number that stands for a tensor of one."""

    def item(self) -> float:
        """Itself."""
        return float(self)


def rates(*arguments: Any, **options: Any) -> list[Rate]:
    """The numbers of ``torch.linspace``."""
    with unset_fake_temporarily():
        return list(map(Rate, torch.linspace(*arguments, **options).tolist()))


NAMES = {
    WHOLE: whole, REAL: real, LENGTH: length, NUMEL: numel, WHOLE_TYPE: (int, torch.SymInt), RATES: rates,
    LARGEST: largest, LEAST: least,
}  # fmt: skip


def _rounded(expression: sympy.Expr, up: bool) -> sympy.Expr | None:
    """A quotient of sizes as a whole number; None where floats could round it."""
    exact = expression.replace(functions.ToFloat, lambda a: a)
    for quotient in (functions.IntTrueDiv, functions.FloatTrueDiv):
        exact = exact.replace(quotient, lambda a, b: a / b)
    exact = exact.xreplace({f: sympy.Rational(float(f)) for f in exact.atoms(sympy.Float)})
    above, below = sympy.fraction(sympy.together(sympy.expand(exact)))
    coefficients = [*above.as_coefficients_dict().values(), *below.as_coefficients_dict().values()]
    if below.as_coeff_Mul()[0] > LARGEST_DENOMINATOR or not all(c.is_Integer for c in coefficients):
        return None
    known = all(isinstance(f, functions.FloorDiv) for f in above.atoms(sympy.Function))
    if not known or not above.is_polynomial() or not below.is_polynomial():
        return None
    return sympy.expand(above) if below == 1 else functions.FloorDiv(above + below - 1 if up else above, below)
