"""Inputs whose rows are equal, or point the same way, or opposite ones. In the reference's child only.

Of random ones no two are: a cosine that is an ulp beyond one, whose arc there is none of, and a distance that is
expanded into squares, whose root there is none of, are seen here only. So are scores that are largest for one key, in
all rows alike: who leaves out blocks that are a little below the largest leaves out none of random keys, for a row of
a tile always needs them, and where scores are far apart such a block counts for nothing.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from kdata.verify.reference.draws import labels
from kdata.verify.reference.values import computes

SCORE = 12.0  # of the row that goes far
BELOW = 11.0  # by which those of the others are below it: a block of them is some ten thousandths of what is summed
OWN = 0.25  # share of itself that such a row keeps
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


def graded(inputs: list[Any], generator: torch.Generator) -> list[Any] | None:
    """Matrices, and more, of either sign and without zeros, whose rows point one way, one of them far.

    Inputs with rows of one length have that way in common. Of the first of them all rows go far: all queries, in tiles
    of any size, agree which key is the largest. In half the others that is the last row, in the others the first.
    """
    leaves, form = tree_flatten(inputs)
    ways = dict[int, torch.Tensor]()
    changed = [_graded(t, ways, generator) if _grades(t) else t for t in leaves]
    found: list[Any] | None = tree_unflatten(changed, form) if len(ways) < sum(map(_grades, leaves)) else None
    return found


def _grades(leaf: Any) -> bool:
    return computes(leaf) and leaf.ndim > 1 and float(leaf.min()) < 0 and bool((leaf != 0).all())


def _graded(leaf: torch.Tensor, ways: dict[int, torch.Tensor], generator: torch.Generator) -> torch.Tensor:
    width, steps = leaf.shape[-1], torch.ones(*leaf.shape[:-1], 1)
    if width in ways:
        size, axis = max((n, axis) for axis, n in enumerate(leaf.shape[:-1]))
        steps.narrow(axis, 1, size - 1).fill_(1.0 - BELOW / SCORE)
        halves = steps.chunk(2, other := int(axis == 0))
        steps = torch.cat([halves[0], *(half.flip(axis) for half in halves[1:])], other)
    else:
        ways[width] = 2.0 * torch.randint(0, 2, (width,), generator=generator) - 1.0
    far = math.sqrt(SCORE / math.sqrt(width))  # a product of two such rows is divided by the root of their width
    return (OWN * leaf + far * steps * ways[width]).to(leaf.dtype)


def _turned(leaf: torch.Tensor, model: torch.Tensor) -> torch.Tensor:
    rows, others = (t.reshape(-1, t.shape[-1]) for t in (leaf, model))
    signed = float(leaf.min()) < 0
    parts = []
    for number, (own, other) in enumerate(zip(rows, others, strict=True)):
        turn = TURNS[number % len(TURNS)]
        parts.append(own if turn is None else other * (turn if signed else abs(turn)))
    return torch.stack(parts).reshape(leaf.shape)
