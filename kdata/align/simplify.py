"""Kernel text, step one: Inductor's dialect becomes plain Triton with nothing in it that does no work."""

from __future__ import annotations

import ast

from kdata.align.casts import Broadcasts, Casts
from kdata.align.errors import AlignError
from kdata.align.helpers import IN_TL, RENAMED, SOURCES
from kdata.align.trees import (
    Replace,
    Transformer,
    alike,
    assignments,
    call,
    drop_unused,
    names,
    propagate_aliases,
    remove,
)
from kdata.align.whole_numbers import is_whole, may_be_negative


def simplify(function: ast.FunctionDef, sizes: set[str], dtypes: dict[str, str]) -> set[str]:
    """Rewrite a kernel in place; returns the helpers it needs.

    ``sizes`` are its integer arguments, ``dtypes`` the element types of its pointers.
    """
    dialect = _Dialect(sizes)
    dialect.visit(function)
    propagate_aliases(function)
    _Constants(function).visit(function)
    propagate_aliases(function)  # what a number did nothing to is another name only
    while truths := {n: v for n, v in assignments(function).items() if _is_truth(v)}:
        remove(function, set(truths))
        Replace(truths).visit(function)
        _Constants(function).visit(function)
        propagate_aliases(function)
    powers = _Powers()
    powers.visit(function)
    Casts(function, sizes, dtypes).visit(function)
    Broadcasts(function).visit(function)
    drop_unused(function)
    return dialect.helpers


class _Dialect(Transformer):
    """Inductor's helper functions as ``tl`` functions or as helpers of ours; hints about caches are dropped."""

    def __init__(self, sizes: set[str]) -> None:
        self.sizes = sizes
        self.helpers: set[str] = set()

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        whole = isinstance(node.slice, ast.Slice) and node.slice.lower is node.slice.upper is node.slice.step is None
        return node.value if whole else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        node.keywords = [k for k in node.keywords if k.arg not in ("eviction_policy", "cache_modifier")]
        family, _, name = ast.unparse(node.func).rpartition(".")
        if family == "tl" and name in ("load", "store"):
            _name_mask(node, 1 if name == "load" else 2)
        if name == "broadcast_to" and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
            return call("tl.zeros", ast.List(node.args, ast.Load()), ast.parse("tl.int32", mode="eval").body)
        if name == "broadcast_to" and family == "tl" and names(node.args[0]) and names(node.args[0]) <= self.sizes:
            return node.args[0]  # scalars broadcast by themselves
        if name == "full" and ast.unparse(node.args[1]) == "0" and "BLOCK" in ast.unparse(node.args[0]):
            return call("tl.zeros", node.args[0], node.args[2])
        if family in ("libdevice", "tl_math") or (family == "tl" and name in RENAMED):
            return self._function(RENAMED.get(name, name), node)
        if family == "triton_helpers":
            return self._triton_helper(name, node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Whether ``x`` is negative: ``libdevice.signbit(x) != 0 if x.dtype is tl.float32 else x < 0``."""
        self.generic_visit(node)
        return node.orelse if ast.unparse(node.body).startswith("signbit") else node

    def _function(self, name: str, node: ast.Call) -> ast.expr:
        if name in IN_TL or name == "fdiv":
            return call(f"tl.{name}", *node.args)
        if name == "rint":
            name = "nearbyint"
        if name not in SOURCES:
            raise AlignError("no Triton twin", f"libdevice.{name}")
        self.helpers.add(name)
        return call(name, *node.args)

    def _triton_helper(self, name: str, node: ast.Call) -> ast.expr:
        arguments = node.args
        match name:
            case "maximum" | "minimum":
                nan = ast.parse("tl.PropagateNan.ALL", mode="eval").body
                return call(f"tl.{name}", *arguments, propagate_nan=nan)
            case "max2" | "min2":
                return call(f"tl.{name[:3]}", *arguments)
            case "any":
                self.helpers.add("either")
                return call("tl.reduce", arguments[0], arguments[1], ast.Name("either", ast.Load()))
            case "prod":
                self.helpers.add("multiply")
                return call("tl.reduce", arguments[0], arguments[1], ast.Name("multiply", ast.Load()))
            case "promote_to_tensor":
                return arguments[0]
            case "div_floor_integer" | "remainder_integer":
                operator: ast.operator = ast.FloorDiv() if name.startswith("div") else ast.Mod()
                if not may_be_negative(arguments[0]):
                    return ast.BinOp(arguments[0], operator, arguments[1])
                helper = "floor_div" if name.startswith("div") else "floor_mod"
                self.helpers.add(helper)
                return call(helper, *arguments)
            case "maximum_with_index" | "minimum_with_index":
                helper = "larger_with_index" if name.startswith("max") else "smaller_with_index"
                self.helpers.add(helper)
                return call(helper, *arguments)
            case "max_with_index" | "min_with_index" | "max_with_first_index" | "min_with_first_index":
                helper = "larger_with_index" if name.startswith("max") else "smaller_with_index"
                self.helpers.add(helper)
                both = ast.Tuple(arguments[:2], ast.Load())
                return call("tl.reduce", both, arguments[2], ast.Name(helper, ast.Load()))
            case "select_one":
                chosen = call("tl.where", arguments[1], arguments[0], ast.Constant(0))
                axis = next(k.value for k in node.keywords if k.arg == "dim")
                return call("tl.sum", chosen, axis, keep_dims=ast.Constant(True))
        raise AlignError("no Triton twin", f"triton_helpers.{name}")


def _name_mask(node: ast.Call, position: int) -> None:
    """Pass the mask of a load or store by keyword; ``None`` is no mask, and without one there is no ``other``."""
    if len(node.args) > position:
        mask = node.args.pop(position)
        if not (isinstance(mask, ast.Constant) and mask.value is None):
            node.keywords.insert(0, ast.keyword("mask", mask))
            return
    if not any(k.arg == "mask" for k in node.keywords):
        node.keywords = [k for k in node.keywords if k.arg != "other"]


class _Powers(Transformer):
    """``pow`` with an exponent that has an operator of its own."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if ast.unparse(node.func) != "pow" or len(node.args) != 2:
            return node
        base, exponent = node.args[0], _number(node.args[1])
        match exponent:
            case 0.5:
                return call("tl.sqrt", base)
            case -0.5:
                return call("tl.rsqrt", base)
            case float() if exponent in (-1.0, -2.0, -3.0, 2.0, 3.0, 4.0, 5.0) and isinstance(base, ast.Name):
                product: ast.expr = base
                for _ in range(abs(int(exponent)) - 1):
                    product = ast.BinOp(product, ast.Mult(), base)
                return product if exponent > 0 else ast.BinOp(ast.Constant(1.0), ast.Div(), product)
            case float() if not exponent.is_integer():
                return call("tl.exp2", ast.BinOp(call("tl.log2", base), ast.Mult(), ast.Constant(exponent)))
        return node


def _number(node: ast.expr) -> float | None:
    try:
        return float(ast.literal_eval(node))
    except (ValueError, TypeError):
        return None


class _Constants(Transformer):
    """``tl.full([1], 0.5, tl.float32)`` used in arithmetic is ``0.5``."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.values: dict[str, ast.expr] = {}
        self.single = assignments(function)
        for name, value in self.single.items():
            if (constant := self._constant(value)) is not None:
                self.values[name] = constant

    def _constant(self, value: ast.expr) -> ast.expr | None:
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Call(args=[*_, same]) as full, attr="to"), args=[dtype]) if (
                ast.dump(same) == ast.dump(dtype)
            ):
                return self._constant(full)
            case ast.Call(func=ast.Attribute(attr="broadcast_to"), args=[ast.Name(id=name), _]):
                return self.values.get(name)
            case ast.Call(func=ast.Attribute(attr="full"), args=[shape, number, dtype]):
                ones = isinstance(shape, ast.List) and all(
                    isinstance(e, ast.Constant) and e.value == 1 for e in shape.elts
                )
                like = ast.unparse(shape).endswith(".shape")
                if (ones or like) and not isinstance(number, ast.Name):
                    kind = ast.unparse(dtype).removeprefix("tl.")
                    if kind.startswith("float") and isinstance(number, ast.Constant) and isinstance(number.value, int):
                        number = ast.Constant(float(number.value))
                    if isinstance(dtype, ast.Attribute) and is_whole(dtype.value, self.single):
                        number = ast.Constant(int(ast.literal_eval(number)))
                    return number
        return None

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node.left, node.right = self._value(node.left), self._value(node.right)
        self.generic_visit(node)
        if (operand := _left_as_it_is(node)) is not None:
            return operand
        if (larger := _at_least_one(node)) is not None:
            return larger
        if isinstance(node.op, ast.BitAnd) and _is_true(node.left):
            return node.right
        return node.left if isinstance(node.op, ast.BitAnd) and _is_true(node.right) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        node.left, node.comparators = self._value(node.left), [self._value(c) for c in node.comparators]
        self.generic_visit(node)
        if isinstance(node.left, ast.Constant) and isinstance(node.comparators[0], ast.Constant):
            return ast.Constant(bool(eval(ast.unparse(ast.fix_missing_locations(node)))))  # noqa: S307 - two numbers
        if isinstance(node.ops[0], ast.NotEq) and ast.unparse(node.comparators[0]) == "False":
            return node.left
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = ast.unparse(node.func)
        if name in ("tl.where", "tl.maximum", "tl.minimum", "tl.fdiv", "pow"):
            operands = node.args[1:] if name == "tl.where" else node.args
            if not self._both_constant(operands) or name == "tl.where":
                start = len(node.args) - len(operands)
                node.args[start:] = [self._value(a) for a in operands]
        constant = self._constant(node)
        if constant is not None and ast.unparse(node.args[0]) == "[]":
            return constant
        self.generic_visit(node)
        return self._chosen(node) if name == "tl.where" else node

    def _chosen(self, node: ast.Call) -> ast.expr:
        """What is known of a choice: the side of a truth, and no second question in the first side."""
        asked, first, second = node.args
        if _is_truth(asked):
            return first if _is_true(asked) else second
        match self.single.get(first.id) if isinstance(first, ast.Name) else first:
            case ast.Call(func=ast.Attribute(attr="where"), args=[again, inner, _]) if alike(asked, again):
                return call("tl.where", asked, inner, second)
        return node

    def _both_constant(self, operands: list[ast.expr]) -> bool:
        return all(isinstance(o, ast.Name) and o.id in self.values for o in operands)

    def _value(self, node: ast.expr) -> ast.expr:
        return self.values[node.id] if isinstance(node, ast.Name) and node.id in self.values else node


def _left_as_it_is(node: ast.BinOp) -> ast.expr | None:
    """The operand that the other one, a number, does nothing to, or whose sign it turns.

    Modules multiply by factors that happen to be one.  As for Inductor, ``x + 0.0`` is ``x``, and so ``0.0 - x`` is
    ``-x``: the sign of a zero is all that it would change.
    """
    match node:
        case ast.BinOp(left=ast.Constant(value=1), op=ast.Mult(), right=operand):
            return operand
        case ast.BinOp(left=operand, op=ast.Mult() | ast.Div(), right=ast.Constant(value=float(1.0))):
            return operand
        case ast.BinOp(left=operand, op=ast.Add() | ast.Sub(), right=ast.Constant(value=float(0.0))):
            return operand
        case ast.BinOp(left=ast.Constant(value=float(0.0)), op=ast.Add(), right=operand):
            return operand
        case ast.BinOp(left=ast.Constant(value=float(0.0)), op=ast.Sub(), right=operand):
            return ast.UnaryOp(ast.USub(), operand)
    return None


def _at_least_one(node: ast.BinOp) -> ast.expr | None:
    """``n`` of ``(1 >= n) * 1 + (n > 1) * n``: sizes are never zero."""
    match node:
        case ast.BinOp(
            left=ast.Compare(left=ast.Constant(value=1), ops=[ast.GtE()], comparators=[first])
            | ast.BinOp(
                left=ast.Compare(left=ast.Constant(value=1), ops=[ast.GtE()], comparators=[first]), op=ast.Mult()
            ),
            op=ast.Add(),
            right=ast.BinOp(left=second, op=ast.Mult(), right=ast.Compare(left=third, ops=[ast.Gt()])),
        ) if alike(first, second, third):
            return second
    return None


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_truth(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)
