"""An input whose outer lines are very large, where not all of an answer follows from them. In the reference's child.

The sum over a window may be had as the difference of two running sums, from either end, and so may that over a segment.
All that was summed before it is then taken off again, but for what rounding has left of it: beside large numbers that
is all there is. A window of the reference's holds its own numbers only, and where it holds none of the large ones its
answer is judged by its own size. Running sums themselves follow from one end or the other throughout.

Not asked of sums of products: convolutions by Winograd's way, or Fourier's, honestly mix a window with what lies around
it, as libraries do. Nor where scores are weighed: published kernels add to those of what is left out a number that
suits usual keys only.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from kdata.verify.reference.conditioned import weighs
from kdata.verify.reference.draws import labels
from kdata.verify.reference.magnitudes import Measures
from kdata.verify.reference.probe import PRODUCTS
from kdata.verify.reference.values import computes

TIMES = 1e6  # what is left of such numbers is some hundredths
SHARE = 8  # of a dimension's lines one in so many is large at either end
MOST = 4  # inputs that are tried
WIDE = (torch.float32, torch.float64)  # half precision does not hold them


@dataclass(frozen=True, slots=True)
class Burden:
    """Inputs with large lines, and along which dimension the lines of an answer are judged one by one."""

    inputs: list[Any]
    dim: int
    place: int = 0  # of that input


def burdened(
    inputs: list[Any], measures: Measures, names: Collection[str], first: Burden | None = None
) -> Burden | None:  # fmt: skip
    """A floating input with its outer lines large along the last dimension that tells; None for none.

    It tells where some lines of the answer follow from these, and not all, unless it has as many lines as the input and
    those are the same: each line is computed by itself then, which is asked otherwise. ``names``: of its operators.
    The first one that tells; where that is known, the next one.

    Raises:
        Exception: whatever the reference raises.
    """
    if weighs(names) or any(part in name for name in names for part in PRODUCTS):
        return None
    leaves, form = tree_flatten(inputs)
    still = labels(leaves)
    wide = [n for n, t in enumerate(leaves) if computes(t) and t.dtype in WIDE and n not in still]
    if not wide:
        return None
    usual = measures.eager(inputs)
    places = [n for n in wide if first is None or n > first.place][:MOST]
    for place, dim in ((n, dim) for n in places for dim in reversed(range(leaves[n].ndim))):
        if not (count := leaves[place].shape[dim] // SHARE):
            continue
        large = leaves[place].clone(memory_format=torch.contiguous_format)
        for start in (0, large.shape[dim] - count):
            large.narrow(dim, start, count).mul_(TIMES)
        tried: list[Any] = tree_unflatten([*leaves[:place], large, *leaves[place + 1 :]], form)
        if measures.bears(tried) and _apart(usual, measures.eager(tried), dim, large.shape[dim]):
            return Burden(tried, dim, place)
    return None


def _apart(usual: Any, other: Any, dim: int, size: int) -> bool:
    """Whether some lines of an answer are the same in both, and those that are not are not those of an input's."""
    for one, new in zip(tree_leaves(usual), tree_leaves(other), strict=False):
        if computes(one) and isinstance(new, Tensor) and one.ndim > dim and one.shape == new.shape:
            moved = (one != new).movedim(dim, 0).reshape(one.shape[dim], -1).any(1)
            each = len(moved) == size and int(moved.sum()) == 2 * (size // SHARE)
            if not each and bool(moved.any()) and not bool(moved.all()):
                return True
    return False
