"""Inputs that are zero nearly everywhere. In the reference's child only.

Who leaves out blocks that look empty, by their sum, their diagonal or a sample of them, is right for as long as inputs
are drawn at random.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from kdata.verify.reference.draws import labels
from kdata.verify.values import computes

APART = 8  # rows of which one is not all zeros
# Of neighbours, neither whose sum nor whose sum by places is anything but zero; and of every other input one alone.
PATTERN, ALONE = (1.0, -2.0, 1.0), (1.0, 0.0, 0.0)


def sparse(inputs: list[Any], generator: torch.Generator) -> list[Any] | None:
    """Matrices, and more, that have negative numbers, with all but one of eight rows zero; None without any."""
    leaves, form = tree_flatten(inputs)
    still = labels(leaves)
    chosen = [n for n, leaf in enumerate(leaves) if n not in still and _fits(leaf)]
    patterns = {n: (PATTERN, ALONE)[turn % 2] for turn, n in enumerate(chosen)}
    changed = [_sparse(t, patterns[n], generator) if n in patterns else t for n, t in enumerate(leaves)]
    if not chosen:
        return None
    found: list[Any] = tree_unflatten(changed, form)
    return found


def _fits(leaf: Any) -> bool:
    return computes(leaf) and leaf.ndim > 1 and leaf.shape[-1] > 2 * len(PATTERN) and float(leaf.min()) < 0


def _sparse(tensor: torch.Tensor, pattern: tuple[float, ...], generator: torch.Generator) -> torch.Tensor:
    rows = tensor.reshape(-1, tensor.shape[-1])
    first = torch.randint(rows.shape[1] - len(PATTERN) + 1, (len(rows), 1), generator=generator)
    places = first + torch.arange(len(PATTERN))
    kept = torch.randperm(len(rows), generator=generator) % APART == 0
    values = rows.gather(1, first) * kept[:, None] * torch.tensor(pattern, dtype=tensor.dtype)
    return torch.zeros_like(rows).scatter_(1, places, values).reshape(tensor.shape)
