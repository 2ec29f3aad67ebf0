"""Rows of scores that are sure of their targets, each more than the one before. In the reference's child only.

Targets that are drawn are none of what scores are largest for, while those of a trained model are: there a loss is
small, and a kernel that takes it for zero, or clips it, is right for as long as scores are random.  So it is where the
scores are products of rows of two inputs, of which those of one number belong together, as contrastive losses have it.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from kdata.verify.reference.values import computes, integral

LEAST, MOST = 1.0, 14.0  # by which the target's score is above all others, of the first row and of the last
CLOSEST, FARTHEST = 4.0, 40.0  # a row's product with its own, of the first row and of the last
PICKS = frozenset("nll_loss_forward nll_loss2d_forward nll_loss_nd cross_entropy_loss gather".split())


def sure(inputs: list[Any]) -> list[Any] | None:
    """The inputs with scores raised where integers among them pick one of a row, or rows of two paired; else None."""
    leaves, form = tree_flatten(inputs)
    for place, scores in enumerate(leaves):
        for targets in leaves:
            if (axis := _axis(scores, targets)) is not None:
                found: list[Any] = tree_unflatten(
                    [*leaves[:place], _raised(scores, targets, axis), *leaves[place + 1 :]], form
                )
                return found
    signed = [n for n, t in enumerate(leaves) if computes(t) and t.ndim == 2 and float(t.min()) < 0]
    for one, other in combinations(signed, 2):
        if leaves[one].shape == leaves[other].shape:
            paired: list[Any] = tree_unflatten([*leaves[:one], _paired(leaves[other]), *leaves[one + 1 :]], form)
            return paired
    return None


def _paired(rows: torch.Tensor) -> torch.Tensor:
    """What rows of another input are where each one's product with its own is larger than that of the one before."""
    products = torch.logspace(math.log10(CLOSEST), math.log10(FARTHEST), len(rows)).unsqueeze(-1)
    return (rows * products / rows.square().sum(-1, keepdim=True).clamp(min=1e-6)).to(rows.dtype)


def _axis(scores: Any, targets: Any) -> int | None:
    """Along which axis of scores targets pick one of each row; None if they are no such pair."""
    if not (computes(scores) and integral(targets)) or scores.ndim < 2 or targets.dtype is torch.bool:
        return None
    axes = [axis for axis in (-1, 1) if targets.shape == scores.movedim(axis, -1).shape[:-1]]
    fitting = [axis for axis in axes if 1 < scores.shape[axis] > int(targets.max())]
    return fitting[0] if fitting and targets.numel() > 1 else None


def _raised(scores: torch.Tensor, targets: torch.Tensor, axis: int) -> torch.Tensor:
    rows, picked = scores.movedim(axis, -1).clone(), targets.long().clamp(min=0).unsqueeze(-1)
    others = rows.scatter(-1, picked, -torch.inf).amax(-1)
    gaps = torch.linspace(LEAST, MOST, targets.numel()).reshape(targets.shape)
    rows.scatter_(-1, picked, (others + gaps).unsqueeze(-1).to(rows.dtype))
    return rows.movedim(-1, axis).contiguous()
