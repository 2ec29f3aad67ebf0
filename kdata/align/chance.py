"""Sizes that are one by chance: quotients that come to one for the task's own sizes only.

A dimension of size one is left out of kernels' indices.  Where the size is a symbol, torch learns that the symbol is
one; where it is a quotient of symbols, torch only notes it, and the kernel would be wrong at other sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import sympy
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._sympy.functions import FloorDiv

OTHERS = (1, 2, 7, 64, 1000)  # sizes at which a quotient that is one for every size is one, too
MOST = 3  # symbols of a quotient of which all of these are tried


def one_by_chance(environment: ShapeEnv) -> str:
    """The first of these that a graph was written without; "" if there is none."""
    return next((str(g.expr) for g in environment.guards if isinstance(g.expr, sympy.Eq) and _chance(g.expr)), "")


def _chance(equality: sympy.Eq) -> bool:
    """Whether one side is the other times whole numbers that may as well be others."""
    if equality.lhs == 0 or equality.rhs == 0:
        return False  # divisibility
    quotient = equality.lhs / equality.rhs
    sides = (sympy.fraction(ratio) for ratio in (quotient, 1 / quotient))
    chance = any(below == 1 and above.has(FloorDiv) and not above.is_Add for above, below in sides)
    return chance and not all(_holds(equality, sizes) for sizes in _others(equality))


def _holds(equality: sympy.Eq, sizes: dict[sympy.Basic, sympy.Integer]) -> bool:
    """Whether it does at such sizes; where a divisor is zero at these, it says nothing of others."""
    try:
        return bool(equality.xreplace(sizes) == sympy.true)
    except ZeroDivisionError:
        return True


def _others(equality: sympy.Eq) -> Iterator[dict[sympy.Basic, sympy.Integer]]:
    """Sizes to hold an equality against."""
    symbols = sorted(equality.free_symbols, key=str)
    values = map(sympy.Integer, OTHERS)
    for few in product(values, repeat=min(len(symbols), MOST)):
        yield {symbol: few[place % MOST] for place, symbol in enumerate(symbols)}
