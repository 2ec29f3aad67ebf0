"""Kernel text, step one: Inductor's dialect becomes plain Triton with nothing in it that does no work."""

from __future__ import annotations

import ast
from typing import Any

from kdata.align.errors import AlignError
from kdata.align.helpers import IN_TL, RENAMED, SOURCES

INDEX = ("xindex", "yindex", "zindex", "r0_index", "r1_index", "rindex")


def simplify(function: ast.FunctionDef, sizes: set[str], dtypes: dict[str, str]) -> set[str]:
    """Rewrite a kernel in place; returns the helpers it needs.

    ``sizes`` are its integer arguments, ``dtypes`` the element types of its pointers.
    """
    dialect = _Dialect(sizes)
    dialect.visit(function)
    propagate_aliases(function)
    _Constants(function).visit(function)
    while trues := {n: v for n, v in assignments(function).items() if _is_true(v)}:
        _remove(function, set(trues))
        Replace(trues).visit(function)
        _Constants(function).visit(function)
    powers = _Powers()
    powers.visit(function)
    _Casts(function, sizes, dtypes).visit(function)
    Broadcasts(function).visit(function)
    drop_unused(function)
    return dialect.helpers


def call(name: str, *arguments: ast.expr, **keywords: ast.expr) -> ast.Call:
    """``name(*arguments, **keywords)`` as a tree."""
    function = ast.parse(name, mode="eval").body
    return ast.Call(function, list(arguments), [ast.keyword(k, v) for k, v in keywords.items()])


def names(tree: ast.AST) -> set[str]:
    """Every name that a tree reads, functions that it calls left out."""
    called = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    return {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in called
    }


def assignments(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Names with one meaning, and what they are assigned: once, or the same expression in several loops."""
    found: dict[str, ast.expr] = {}
    other: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case ast.Assign(targets=[ast.Tuple(elts=targets)]):
                other |= {t.id for t in targets if isinstance(t, ast.Name)}
                continue
            case _:
                continue
        if name in found and ast.dump(found[name]) != ast.dump(value):
            other.add(name)
        found.setdefault(name, value)
    return {name: value for name, value in found.items() if name not in other}


class Replace(ast.NodeTransformer):
    """Replace names by expressions."""

    def __init__(self, what: dict[str, ast.expr]) -> None:
        self.what = what

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.what.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


class _Dialect(ast.NodeTransformer):
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
                if not _may_be_negative(arguments[0]):
                    return ast.BinOp(arguments[0], operator, arguments[1])
                helper = "floor_div" if name.startswith("div") else "floor_mod"
                self.helpers.add(helper)
                return call(helper, *arguments)
            case "maximum_with_index" | "minimum_with_index":
                helper = "larger_with_index" if name.startswith("max") else "smaller_with_index"
                self.helpers.add(helper)
                return call(helper, *arguments)
            case "max_with_index" | "min_with_index":
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
    """Pass the mask of a load or store by keyword; ``None`` is no mask."""
    if len(node.args) > position:
        mask = node.args.pop(position)
        if not (isinstance(mask, ast.Constant) and mask.value is None):
            node.keywords.insert(0, ast.keyword("mask", mask))


class _Powers(ast.NodeTransformer):
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


class PlainDivision(ast.NodeTransformer):
    """``//`` and ``%`` for the helpers that round down, where nothing can be negative."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = ast.unparse(node.func)
        if name in ("floor_div", "floor_mod") and not any(_may_be_negative(a) for a in node.args):
            return ast.BinOp(node.args[0], ast.FloorDiv() if name == "floor_div" else ast.Mod(), node.args[1])
        return node


def _may_be_negative(expression: ast.expr) -> bool:
    return any(
        isinstance(n, ast.Sub | ast.USub) or (isinstance(n, ast.Name) and n.id.startswith("tmp"))
        for n in ast.walk(expression)
    )


def propagate_aliases(function: ast.FunctionDef) -> None:
    """Remove ``a = b`` where both have one meaning."""
    while aliases := _aliases(function):
        _remove(function, set(aliases))
        Replace({name: _root(value, aliases) for name, value in aliases.items()}).visit(function)


def _aliases(function: ast.FunctionDef) -> dict[str, ast.expr]:
    single = assignments(function)
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    loops = {n.target.id for n in ast.walk(function) if isinstance(n, ast.For) and isinstance(n.target, ast.Name)}
    steady = set(single) | loops
    return {
        name: value
        for name, value in single.items()
        if isinstance(value, ast.Name) and (value.id in steady or value.id not in stored)
    }


def _root(value: ast.expr, aliases: dict[str, ast.expr]) -> ast.expr:
    while isinstance(value, ast.Name) and value.id in aliases:
        value = aliases[value.id]
    return value


def _remove(tree: ast.AST, targets: set[str]) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.For):
            node.body = [s for s in node.body if _target(s) not in targets] or [ast.Pass()]


def _target(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    return None


class _Constants(ast.NodeTransformer):
    """``tl.full([1], 0.5, tl.float32)`` used in arithmetic is ``0.5``."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.values: dict[str, ast.expr] = {}
        for name, value in assignments(function).items():
            if (constant := self._constant(value)) is not None:
                self.values[name] = constant

    def _constant(self, value: ast.expr) -> ast.expr | None:
        match value:
            case ast.Call(func=ast.Attribute(attr="full"), args=[shape, number, dtype]):
                ones = isinstance(shape, ast.List) and all(
                    isinstance(e, ast.Constant) and e.value == 1 for e in shape.elts
                )
                like = ast.unparse(shape).endswith(".shape")
                if (ones or like) and not isinstance(number, ast.Name):
                    kind = ast.unparse(dtype).removeprefix("tl.")
                    if kind.startswith("float") and isinstance(number, ast.Constant) and isinstance(number.value, int):
                        number = ast.Constant(float(number.value))
                    return number
        return None

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node.left, node.right = self._value(node.left), self._value(node.right)
        self.generic_visit(node)
        if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Constant) and node.left.value == 1.0:
            return node.right
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
        return node

    def _both_constant(self, operands: list[ast.expr]) -> bool:
        return all(isinstance(o, ast.Name) and o.id in self.values for o in operands)

    def _value(self, node: ast.expr) -> ast.expr:
        return self.values[node.id] if isinstance(node, ast.Name) and node.id in self.values else node


def _at_least_one(node: ast.BinOp) -> ast.expr | None:
    """``n`` of ``(1 >= n) * 1 + (n > 1) * n``: sizes are never zero."""
    match node:
        case ast.BinOp(
            left=ast.Compare(ops=[ast.GtE()], comparators=[first])
            | ast.BinOp(left=ast.Compare(ops=[ast.GtE()], comparators=[first]), op=ast.Mult()),
            op=ast.Add(),
            right=ast.BinOp(left=second, op=ast.Mult(), right=ast.Compare(left=third, ops=[ast.Gt()])),
        ) if ast.dump(first) == ast.dump(second) == ast.dump(third):
            return second
    return None


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


class _Casts(ast.NodeTransformer):
    """Casts that change nothing: of indices to another integer type, of fp32 to fp32, of sizes to float."""

    def __init__(self, function: ast.FunctionDef, sizes: set[str], dtypes: dict[str, str]) -> None:
        self.single = assignments(function)
        self.plain = sizes | set(INDEX)
        self.float32 = {p for p, dtype in dtypes.items() if dtype == "*fp32"}

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="to"), args=[kind]):
                target = ast.unparse(kind).removeprefix("tl.")
                if isinstance(value, ast.Constant):
                    return value
                if target in ("int32", "int64") and self._is_index(value) and not self._is_start(value):
                    return value
                if target == "float32" and (self._is_size(value) or self._is_float32(value)):
                    return value
        return node

    def _is_index(self, value: ast.expr) -> bool:
        read = names(value) - {"tl", "triton"}
        return bool(read) and all(n in self.plain or n[0] in "xyzr" and not n.startswith("tmp") for n in read)

    def _is_start(self, value: ast.expr) -> bool:
        """Program ids and aranges are widened on purpose where indices exceed 32 bits."""
        return any(isinstance(n, ast.Attribute) and n.attr in ("program_id", "arange") for n in ast.walk(value))

    def _is_size(self, value: ast.expr) -> bool:
        return names(value) <= self.plain - set(INDEX) and not isinstance(value, ast.Constant)

    def _is_float32(self, value: ast.expr) -> bool:
        match value:
            case ast.Name(id=name) if name in self.single:
                return self._is_float32(self.single[name])
            case ast.Call(func=ast.Attribute(attr="load"), args=[address, *_]):
                return bool(names(address) & self.float32)
            case ast.Call(func=ast.Attribute(attr="to"), args=[kind]):
                return ast.unparse(kind) == "tl.float32"
            case ast.BinOp(left=left, right=right):
                return self._is_float32(left) or self._is_float32(right)
            case ast.Call(func=ast.Attribute(attr="sum" | "max" | "min"), args=[inner, *_]):
                return self._is_float32(inner)
            case ast.Call(func=ast.Attribute(attr="where"), args=[_, first, _]):
                return self._is_float32(first)
            case ast.Call(func=ast.Attribute(attr="broadcast_to"), args=[inner, *_]):
                return self._is_float32(inner)
            case ast.Subscript(value=inner):
                return self._is_float32(inner)
        return False


class Broadcasts(ast.NodeTransformer):
    """Removes ``tl.broadcast_to(v, shape)`` where the value has that shape already."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.single = assignments(function)
        self.axes = {n[0] for n in names(function) if n in ("xindex", "yindex", "r0_index", "r1_index")}

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(attr="broadcast_to"), args=[value, ast.List()]):
                if self._spans(value, set()) >= self.axes:
                    return value
        return node

    def _spans(self, value: ast.AST, seen: set[str]) -> set[str]:
        """The axes that a value varies along."""
        found: set[str] = set()
        for node in ast.walk(value):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "tl.sum",
                "tl.max",
                "tl.min",
                "tl.reduce",
                "tl.dot",
            ):
                return set()
            if isinstance(node, ast.Name) and node.id in INDEX:
                found.add(node.id[0])
            elif isinstance(node, ast.Name) and node.id in self.single and node.id not in seen:
                seen.add(node.id)
                found |= self._spans(self.single[node.id], seen)
        return found


def drop_unused(function: ast.FunctionDef) -> None:
    """Remove assignments whose names nothing reads."""
    while True:
        read = names(function)
        targets = {_target(s) for s in ast.walk(function) if isinstance(s, ast.stmt)} - {None}
        unused = {t for t in targets if t is not None and t not in read}
        if not unused:
            return
        _remove(function, unused)


def unparse(tree: Any) -> str:
    """Source of a tree, with the positions that ``ast.unparse`` wants filled in."""
    return ast.unparse(ast.fix_missing_locations(tree))
