"""The same values in other memory: transposed views, rows in another order, parts of wider ones.

In the reference's child only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from kdata.verify.reference.values import computes

GAP = 3  # elements that follow each row of the first input
Style = Callable[[list[Any], torch.Generator], list[Any] | None]


def _transposed(tensor: torch.Tensor) -> torch.Tensor:
    """The same values in memory whose last two dimensions are swapped."""
    return tensor.mT.contiguous().mT


def strided(inputs: list[Any], _: torch.Generator) -> list[Any] | None:
    """All inputs as transposed views; None where none has two dimensions."""
    views = tree_map(lambda t: _transposed(t) if computes(t) and t.ndim > 1 else t, inputs)
    changed: list[Any] | None = None if _layouts(views) == _layouts(inputs) else views
    return changed


def sliced(inputs: list[Any], _: torch.Generator) -> list[Any] | None:
    """All inputs as parts of wider rows, each of rows wider than the one before; None where none has two dimensions."""
    leaves, form = tree_flatten(inputs)
    places = [n for n, t in enumerate(leaves) if computes(t) and t.ndim > 1]
    for gap, place in enumerate(places, GAP):
        leaves[place] = _part(leaves[place], gap)
    views: list[Any] = tree_unflatten(leaves, form)
    return None if _layouts(views) == _layouts(inputs) else views


def rearranged(inputs: list[Any], _: torch.Generator) -> list[Any] | None:
    """All inputs as views whose rows are whole and lie in another order, as those of heads do; None where none can be.

    Who takes the distance of two rows from the last but one dimension goes on with it from head to head.
    """
    views = tree_map(lambda t: _rearranged(t) if computes(t) and t.ndim > 2 else t, inputs)
    changed: list[Any] | None = None if _layouts(views) == _layouts(inputs) else views
    return changed


def _rearranged(tensor: torch.Tensor) -> torch.Tensor:
    """The same values in memory whose two dimensions before the last one are swapped."""
    return tensor.transpose(-3, -2).contiguous().transpose(-3, -2)


def spaced(inputs: list[Any], _: torch.Generator) -> list[Any] | None:
    """All inputs, integers and single rows too, as columns of something wider; None where none has two elements."""
    places = [n for n, t in enumerate(tree_leaves(inputs)) if isinstance(t, torch.Tensor) and t.numel() > 1]
    leaves, form = tree_flatten(inputs)
    for place in places:
        leaves[place] = torch.stack([leaves[place], leaves[place].flatten().roll(1).view_as(leaves[place])], -1)[..., 0]
    views: list[Any] = tree_unflatten(leaves, form)
    return views if places else None


def _part(tensor: torch.Tensor, gap: int) -> torch.Tensor:
    """The same values where so many other elements follow each row."""
    wide = torch.cat([tensor, tensor[..., :1].expand(*tensor.shape[:-1], gap)], -1)
    return wide[..., : tensor.shape[-1]]


def beside(run: int) -> Style:
    """Every other ``run`` inputs, from the first on: of up to four any two are unlike with runs of one or of two."""

    def change(inputs: list[Any], _: torch.Generator) -> list[Any] | None:
        places = [n for n, t in enumerate(tree_leaves(inputs)) if computes(t) and t.ndim > 1]
        chosen = [place for n, place in enumerate(places) if n // run % 2 == 0]
        leaves, form = tree_flatten(inputs)
        leaves = [_transposed(t) if n in chosen else t for n, t in enumerate(leaves)]
        changed: list[Any] = tree_unflatten(leaves, form)
        return changed if len(chosen) < len(places) and _layouts(changed) != _layouts(inputs) else None

    return change


def _layouts(inputs: list[Any]) -> list[tuple[int, ...]]:
    return [t.stride() for t in tree_leaves(inputs) if computes(t)]
