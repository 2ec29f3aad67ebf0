"""Inputs of one shape whose rows are equal, or point the same way, or opposite ones. In the reference's child only.

Of random ones no two are: a cosine that is an ulp beyond one, whose arc there is none of, and a distance that is
expanded into squares, whose root there is none of, are seen here only.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from kdata.verify.reference.draws import labels
from kdata.verify.values import computes

TURNS = (1.0, None, 2.0, -1.0)  # what each row is times the first input's; None: its own


def paired(inputs: list[Any]) -> list[Any] | None:
    """The inputs with rows of the later ones of a shape made multiples of the first one's; None where all differ.

    Signs stay what they are: of what is never negative no row points the other way.
    """
    leaves, form = tree_flatten(inputs)
    still, first, changed = labels(leaves), dict[Any, int](), [*leaves]
    for place, leaf in enumerate(leaves):
        if place in still or not computes(leaf) or not leaf.ndim:
            continue
        model = first.setdefault((leaf.shape, leaf.dtype), place)
        if model != place:
            changed[place] = _turned(leaf, leaves[model])
    if all(a is b for a, b in zip(changed, leaves, strict=True)):
        return None
    found: list[Any] = tree_unflatten(changed, form)
    return found


def _turned(leaf: torch.Tensor, model: torch.Tensor) -> torch.Tensor:
    rows, others = (t.reshape(-1, t.shape[-1]) for t in (leaf, model))
    signed = float(leaf.min()) < 0
    parts = []
    for number, (own, other) in enumerate(zip(rows, others, strict=True)):
        turn = TURNS[number % len(TURNS)]
        parts.append(own if turn is None else other * (turn if signed else abs(turn)))
    return torch.stack(parts).reshape(leaf.shape)
