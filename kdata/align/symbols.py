"""Integer expressions over sizes: Inductor's text to sympy, to a tidy form, and back to text with telling names."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import sympy
from sympy.printing.str import StrPrinter

from kdata.align.errors import AlignError
from kdata.align.trees import Transformer

LONGEST_NAME = 28


class floordiv(sympy.Function):  # type: ignore[misc]  # noqa: N801 - a function's name
    """``a // b`` of positive integers."""

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        if b == 1:
            return a
        if a.is_Integer and b.is_Integer:
            return sympy.Integer(int(a) // int(b))
        quotient = sympy.expand(sympy.cancel(a / b))
        terms = quotient.as_coefficients_dict().values()
        whole = quotient.is_polynomial() and all(c.is_Integer for c in terms)
        return quotient if whole else None


class remainder(sympy.Function):  # type: ignore[misc]  # noqa: N801
    """``a % b`` of positive integers."""

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        return sympy.Integer(int(a) % int(b)) if a.is_Integer and b.is_Integer else None


class largest(sympy.Function):  # type: ignore[misc]  # noqa: N801
    """``max(1, n)`` guards strides of empty tensors, which tasks do not have."""

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        return b if a == 1 else a if b == 1 else None


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "max": largest,
    "floor_div": floordiv,
    "triton_helpers.div_floor_integer": floordiv,
    "pow": lambda a, b: a**b,
    "tl.sqrt": sympy.sqrt,
    "tl.rsqrt": lambda a: 1 / sympy.sqrt(a),
    "math.sqrt": sympy.sqrt,
}


def symbol(name: str) -> sympy.Symbol:
    """A size: a positive integer."""
    return sympy.Symbol(name, integer=True, positive=True)


def read(node: ast.expr) -> Any:
    """An integer expression's tree as sympy.

    Raises:
        AlignError: it is none.
    """
    match node:
        case ast.Constant(value=int() | float() as value):
            return sympy.Integer(value) if isinstance(value, int) else sympy.Float(value)
        case ast.Name(id=name):
            return symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -read(operand)
        case ast.BinOp(left=left, op=ast.Mult(), right=ast.Compare()) | ast.BinOp(left=ast.Compare() as left):
            raise AlignError("compiler output", f"a comparison in a size: {ast.unparse(node)}")
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, read(left), read(right))
        case ast.Call(func=function, args=[one]) if ast.unparse(function) in ("int", "math.trunc"):
            return read(one)
        case ast.Call(func=function, args=[ast.BinOp(left=left, op=ast.Div(), right=right)]) if (
            ast.unparse(function) == "math.ceil"
        ):
            return floordiv(read(left) + read(right) - 1, read(right))
        case ast.Call(func=function, args=arguments) if ast.unparse(function) in FUNCTIONS:
            return FUNCTIONS[ast.unparse(function)](*map(read, arguments))
        case ast.Call(func=ast.Attribute(value=value, attr="to")):
            return read(value)
    raise AlignError("compiler output", f"no size: {ast.unparse(node)}")


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv():
            return floordiv(left, right)
        case ast.Mod():
            return remainder(left, right)
        case ast.Div():
            return left / right
        case ast.Pow():
            return left**right
    raise AlignError("compiler output", f"operator {type(op).__name__} in a size")


@cache
def tidy(expression: Any) -> Any:
    """The expression, factored where that is shorter: ``a*b - 2*a`` is ``a*(b - 2)``."""
    if not expression.is_Add:
        return expression
    factored = sympy.factor(expression)
    return factored if len(str(factored)) < len(str(expression)) else expression


class _Printer(StrPrinter):  # type: ignore[misc]
    def _print_floordiv(self, e: Any) -> str:
        rounded_up = sympy.expand(e.args[0] - e.args[1] + 1)
        if rounded_up.as_coeff_Add()[0] == 0 and e.args[1].is_Integer:
            return f"triton.cdiv({self._print(rounded_up)}, {e.args[1]})"
        return f"(({self._print(e.args[0])}) // ({self._print(e.args[1])}))"

    def _print_remainder(self, e: Any) -> str:
        return f"(({self._print(e.args[0])}) % ({self._print(e.args[1])}))"

    def _print_Pow(self, e: Any, rational: bool = False) -> str:
        if e.exp == -1:
            return f"(1 / ({self._print(e.base)}))"
        exponent = float(e.exp) if e.exp.is_number and not e.exp.is_Integer else e.exp
        return f"(({self._print(e.base)}) ** ({exponent}))"

    def _print_largest(self, e: Any) -> str:
        return f"max({self._print(e.args[0])}, {self._print(e.args[1])})"


def write(expression: Any) -> str:
    """Python text of an expression."""
    return ast.unparse(ast.parse(_Printer().doprint(tidy(expression)), mode="eval"))


def substitute(expression: Any, values: Mapping[str, Any]) -> Any:
    """Replace sizes by expressions."""
    return expression.xreplace({symbol(k): v for k, v in values.items()})


def describe(expression: Any) -> str:
    """A name for a size: ``height - 2`` is ``height_minus_2``; "" where that would be longer than it tells."""
    expression = tidy(expression)
    if expression.is_Symbol:
        return str(expression)
    parts: list[str] = []
    if isinstance(expression, floordiv):
        return "chunk"
    if expression.is_Pow and expression.exp == -1 and expression.base.is_Symbol:
        return f"inverse_{expression.base}"
    if expression.is_Mul:
        number, rest = expression.as_coeff_Mul()
        parts = [_operand(a) for a in (rest.args if rest.is_Mul else [rest])]
        over = number.is_Rational and number.p == 1
        joint = "_".join(parts) + (
            f"_over_{number.q}" if over and number.q != 1 else f"_times_{number}" if number != 1 else ""
        )
    elif expression.is_Add:
        constant, rest = expression.as_coeff_Add()
        if constant == 1 and (-rest).is_Symbol:
            return f"one_minus_{-rest}"
        if not rest.is_Symbol or not constant.is_Integer:
            return ""
        joint = f"{rest}_minus_{-constant}" if constant < 0 else f"{rest}_plus_{constant}"
        parts = [joint]
    else:
        return ""
    return joint if all(parts) and len(joint) <= LONGEST_NAME else ""


def _operand(expression: Any) -> str:
    if expression.is_Symbol:
        return str(expression)
    return describe(expression) if expression.is_Add or isinstance(expression, floordiv) else ""


def plain(size: Any) -> Any:
    """A size of torch's (a number, a symbolic integer or its expression) in our symbols."""
    expression = size.node.expr if hasattr(size, "node") else sympy.sympify(size)
    text = re.sub(r"\bFloorDiv\(", "floordiv(", str(expression))
    tree: ast.expr = _Operators().visit(ast.parse(text, mode="eval").body)
    return read(tree)


class _Operators(Transformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match ast.unparse(node.func):
            case "floordiv":
                return ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1])
            case "Mod" | "PythonMod":
                return ast.BinOp(node.args[0], ast.Mod(), node.args[1])
            case "Max":
                return ast.Call(ast.Name("max", ast.Load()), node.args, [])
        return node
