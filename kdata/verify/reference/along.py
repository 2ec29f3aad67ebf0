"""Magnitudes along another dimension than the first. In the reference's child only.

Of a norm over the batch no row is independent of the others, and all columns are: they have magnitudes of their own
then, as rows do elsewhere.  It is one trial all the same, for one of the dimensions only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference import magnitudes
from kdata.verify.reference.values import computes


def mixed(inputs: list[Any], measures: magnitudes.Measures, steady: bool = False) -> magnitudes.Mixed | None:
    """As ``magnitudes.mixed``: along the first dimension, or else one that has room for all of the magnitudes.

    Raises:
        Exception: whatever the reference raises.
    """
    if (found := magnitudes.mixed(inputs, measures, steady)) is not None:
        return found
    shape = next((t.shape for t in tree_leaves(inputs) if computes(t) and t.ndim > 1), ())
    for dim in (n for n, size in enumerate(shape) if n and size >= len(magnitudes.LADDER)):
        found = magnitudes.mixed(_turned(inputs, 0, dim), _turning(measures, dim), steady)
        if found is not None:
            return replace(found, inputs=_turned(found.inputs, dim, 0), dim=dim)
    return None


def _turning(measures: magnitudes.Measures, dim: int) -> magnitudes.Measures:
    """The same answers, of inputs and to such whose ``dim`` stands first."""

    def around(answer: magnitudes.Answer) -> magnitudes.Answer:
        return lambda inputs: _turned(answer(_turned(inputs, dim, 0)), 0, dim)

    eager, golden, moved = (around(answer) for answer in (measures.eager, measures.golden, measures.moved))
    return replace(measures, eager=eager, golden=golden, moved=moved)


def _turned(values: Any, to: int, dim: int) -> Any:
    """All tensors that have both dimensions with the one in place of the other, in memory, too."""

    def turn(value: Any) -> Any:
        return value.movedim(dim, to).contiguous() if isinstance(value, Tensor) and value.ndim > max(to, dim) else value

    return tree_map(turn, values)
