"""Tensors that a test writes out, drawn instead: of the same shape and dtype, and in the range of what is written.

``torch.tensor([-1.0, 2.0, -3.0])`` becomes ``torch.rand(3) * 5.0 - 3.0``: a test looks at one point, a judge draws many
and other sizes, which a text of three numbers does not have.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import Any

DIGITS = 12


class Drawn(ast.NodeTransformer):
    """Replaces the literal tensors of an expression or a statement; ``count`` says how many there were."""

    def __init__(self) -> None:
        self.count = 0

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """``torch.tensor([...])`` with numbers in it."""
        self.generic_visit(node)
        if ast.unparse(node.func) != "torch.tensor" or len(node.args) != 1:
            return node
        try:
            values = ast.literal_eval(node.args[0])
            shape, flat = _shape(values), list(_flat(values))
        except (ValueError, TypeError):
            return node
        text = _text(shape, flat, "".join(f", {ast.unparse(k)}" for k in node.keywords)) if shape and flat else ""
        if not text:
            return node
        self.count += 1
        return ast.parse(text, mode="eval").body


def _text(shape: tuple[int, ...], values: list[Any], more: str) -> str:
    """An expression that draws such a tensor; "" where none is known. ``more``: further arguments."""
    sizes, low, high = ", ".join(map(str, shape)), min(values), max(values)
    whole = f"({sizes},)" if len(shape) == 1 else f"({sizes})"
    if all(isinstance(v, bool) for v in values):
        return f"torch.rand({sizes}) < 0.5"
    if not all(math.isfinite(v) for v in values):
        return ""
    if low == high:
        return f"torch.full({whole}, {low!r}{more})"
    if any(isinstance(v, float) for v in values):
        return _range(f"torch.rand({sizes}{more})", low, high)
    if len(distinct := sorted(set(values))) == 2 and high - low > 1:  # labels: -1 and 1
        return f"torch.tensor({distinct}{more})[torch.randint(0, 2, {whole})]"
    return f"torch.randint({low}, {high + 1}, {whole}{more})"


def _range(drawn: str, low: float, high: float) -> str:
    """What is drawn from 0 to 1, from ``low`` to ``high``."""
    width = float(f"{high - low:.{DIGITS}g}")
    scaled = drawn if width == 1 else f"{drawn} * {width!r}"
    return f"{scaled} {'+' if low > 0 else '-'} {abs(float(low))!r}" if low else scaled


def _shape(values: Any) -> tuple[int, ...]:
    """The shape of nested lists.

    Raises:
        TypeError: they hold what is no real number.
        ValueError: they are ragged.
    """
    if isinstance(values, bool | int | float):
        return ()
    if not isinstance(values, list | tuple):
        raise TypeError("no number")
    shapes = {_shape(v) for v in values}
    if len(shapes) > 1:
        raise ValueError("ragged")
    return (len(values), *(shapes.pop() if shapes else ()))


def _flat(values: Any) -> Iterator[Any]:
    if isinstance(values, list | tuple):
        for v in values:
            yield from _flat(v)
    else:
        yield values
