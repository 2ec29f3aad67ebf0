"""Quick answers to questions about sizes that torch answers by long symbolic proofs.

Every size has a value: the task's own.  What is false for these values cannot be proved, and a branch is taken as they
say; nobody reads the guards that torch would note, for the judge runs the candidate at other sizes.  Together with
leaving out what only caches and error messages need, this halves the time of an alignment.

Uses private interfaces of torch 2.11 to 2.13.
"""

from __future__ import annotations

import functools
import importlib.util
import operator
from collections.abc import Callable
from typing import Any

import sympy
import torch._dynamo.config as dynamo_config
import torch.fx.config as fx_config
from sympy.core.relational import Relational
from torch._inductor import utils
from torch._inductor.codegen import simd, triton_utils
from torch._inductor.sizevars import SizeVarAllocator
from torch._inductor.virtualized import V
from torch.fx.experimental import proxy_tensor
from torch.fx.experimental.sym_node import SymNode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._sympy import functions
from torch.utils._thunk import Thunk

LARGEST_INT32 = 2**31 - 1
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "statically_known_equals": operator.eq,
    "statically_known_leq": operator.le,
    "statically_known_lt": operator.lt,
    "statically_known_geq": operator.ge,
    "statically_known_gt": operator.gt,
    "statically_known_multiple_of": lambda numerator, denominator: denominator != 0 and numerator % denominator == 0,
}
RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}
SIZE_HINTING = "torch.fx.experimental._size_hinting"
VALUES = "_values_of_expressions"  # a shape environment's memory of what its expressions come to


def install() -> None:
    """Teach this process's torch the short ways."""
    dynamo_config.fake_tensor_cache_enabled = False  # its keys cost more than what it saves on symbolic shapes
    fx_config.do_not_emit_stack_traces = True
    vars(proxy_tensor)["thunkify"] = _lazily
    ShapeEnv._evaluate_expr = _decided_by_values(ShapeEnv._evaluate_expr)  # type: ignore[method-assign]
    ShapeEnv._maybe_evaluate_static = _without_hopeless_proofs(ShapeEnv._maybe_evaluate_static)  # type: ignore[method-assign,assignment]
    SizeVarAllocator.check_leq = _unguarded  # type: ignore[method-assign]
    SizeVarAllocator._simplify_with_ranges = _only_quotients(SizeVarAllocator._simplify_with_ranges)  # type: ignore[method-assign]
    for name, compare in RELATIONS.items():
        setattr(SymNode, name, _compared(getattr(SymNode, name), compare))
    for name, holds in COMPARISONS.items():
        setattr(SizeVarAllocator, name, _disproved_by_values(getattr(SizeVarAllocator, name), holds))
    vars(utils)["_sympy_subs"] = _substituted
    if importlib.util.find_spec(SIZE_HINTING):  # since torch 2.12
        vars(importlib.import_module(SIZE_HINTING))["_sympy_subs"] = _substituted
    for module in (simd, triton_utils):
        vars(module)["expr_fits_within_32bit"] = _fits_within_32_bits


def value(environment: ShapeEnv, expression: Any) -> int | None:
    """What an integer expression comes to for the task's own sizes; None if it holds anything else than those."""
    if isinstance(expression, int):
        return expression
    if not isinstance(expression, sympy.Basic):
        return None
    known: dict[sympy.Basic, int | None] = environment.__dict__.setdefault(VALUES, {})
    if expression not in known:
        known[expression] = _computed(environment, expression)
    return known[expression]


def _computed(environment: ShapeEnv, expression: sympy.Basic) -> int | None:
    if not expression.free_symbols <= environment.backed_var_to_val.keys():
        return None
    found = expression.xreplace(environment.backed_var_to_val)
    return int(found) if found.is_Integer else None


def _lazily(tracer: Any, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """A node for a size that nobody uses is never made."""
    return Thunk(functools.partial(function, *arguments, **keywords))


def _decided_by_values(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """All but equalities that hold: those unite two symbols, which the graph must learn."""

    def decide(self: ShapeEnv, orig_expr: sympy.Basic, hint: Any = None, *arguments: Any, **keywords: Any) -> Any:
        if isinstance(orig_expr, Relational) and orig_expr.free_symbols <= self.backed_var_to_val.keys():
            holds = bool(orig_expr.xreplace(self.backed_var_to_val) if hint is None else hint)
            unites = orig_expr.is_Equality if holds else isinstance(orig_expr, sympy.Ne)
            if not unites:
                return sympy.true if holds else sympy.false
        return evaluate(self, orig_expr, hint, *arguments, **keywords)

    return decide


def _compared(compare: Callable[..., Any], holds: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    """A comparison of sizes as a plain truth, without an expression for it; an equality that holds stays one."""
    unites = holds is operator.eq, holds is operator.ne

    def known(self: SymNode, other: SymNode) -> Any:
        left, right = self._hint, other._hint
        if type(left) is int and type(right) is int:
            truth = holds(left, right)
            if not (unites[0] if truth else unites[1]):
                return self.wrap_bool(truth)
        return compare(self, other)

    return known


def _unguarded(self: SizeVarAllocator, left: Any, right: Any) -> None:
    """In place of noting that 32 bits suffice: the launcher's sizes are not bound to it."""


def _substituted(expression: Any, values: dict[Any, Any]) -> Any:
    """``torch``'s substitution, which looks at every value for each expression."""
    named = {k: v for k, v in values.items() if isinstance(v, str)}
    if named:
        properties = {k: {"integer": k.is_integer, "nonnegative": k.is_nonnegative} for k in named}
        values = {**values, **{k: sympy.Symbol(v, **properties[k]) for k, v in named.items()}}
    return sympy.sympify(expression).xreplace(values)


def _only_quotients(simplify: Callable[..., Any]) -> Callable[..., Any]:
    """Without quotients and remainders the ranges of loops simplify nothing."""

    def simplified(self: SizeVarAllocator, expression: Any, ranges: Any) -> Any:
        expanded = self.simplify(expression)
        if expanded.has(functions.FloorDiv, functions.ModularIndexing):
            return simplify(self, expression, ranges)
        return expanded

    return simplified


def _without_hopeless_proofs(prove: Callable[..., Any]) -> Callable[..., Any]:
    """What is false at the last index of every loop cannot be proved for all of them."""

    @functools.wraps(prove)
    def known(self: ShapeEnv, expression: Any, *, axioms: Any = None, **keywords: Any) -> Any:
        if axioms and isinstance(expression, Relational):
            last = {a.lhs: a.rhs - 1 for a in axioms if isinstance(a, sympy.StrictLessThan)}
            if expression.xreplace(last).xreplace(self.backed_var_to_val) is sympy.false:
                return None
        return prove(self, expression, axioms=axioms, **keywords)

    return known


def _disproved_by_values(prove: Callable[..., bool], holds: Callable[[int, int], bool]) -> Callable[..., bool]:
    def known(self: SizeVarAllocator, left: Any, right: Any) -> bool:
        values = value(self.shape_env, left), value(self.shape_env, right)
        if values[0] is not None and values[1] is not None and not holds(values[0], values[1]):
            return False
        return prove(self, left, right)

    return known


def _fits_within_32_bits(expression: Any) -> bool:
    found = value(V.graph.sizevars.shape_env, expression)
    return found is not None and found <= LARGEST_INT32
