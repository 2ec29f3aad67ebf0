"""Inputs that are zero nearly everywhere. In the reference's child only.

Who leaves out blocks that look empty, by their sum, their diagonal or a sample of them, is right for as long as inputs
are drawn at random.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from kdata.verify.reference.draws import labels
from kdata.verify.reference.styles import SPARSE
from kdata.verify.reference.values import computes

APART = 64  # rows of which one is not all zeros
# Of neighbours: neither the sum of the first ones nor their sum by places is anything but zero.
WAVE, SPIKE = (1.0, -2.0, 1.0), (1.0, 0.0, 0.0)
# By style: from which input on every other one is so, for of two that are a product is zero; and of what its rows are.
ROWS = dict(zip(SPARSE, [(0, WAVE), (1, WAVE), (0, SPIKE), (1, SPIKE)], strict=True))


def sparse(style: str, inputs: list[Any], generator: torch.Generator) -> list[Any] | None:
    """Matrices, and more, that have negative numbers, with all rows zero but a few; None without any."""
    first, pattern = ROWS[style]
    leaves, form = tree_flatten(inputs)
    still = labels(leaves)
    chosen = [n for n, leaf in enumerate(leaves) if n not in still and _fits(leaf)][first::2]
    changed = [_sparse(t, pattern, generator) if n in chosen else t for n, t in enumerate(leaves)]
    found: list[Any] | None = tree_unflatten(changed, form) if chosen else None
    return found


def _fits(leaf: Any) -> bool:
    return computes(leaf) and leaf.ndim > 1 and leaf.shape[-1] > 2 * len(WAVE) and float(leaf.min()) < 0


def _sparse(tensor: torch.Tensor, pattern: tuple[float, ...], generator: torch.Generator) -> torch.Tensor:
    rows = tensor.reshape(-1, tensor.shape[-1])
    first = torch.randint(rows.shape[1] - len(pattern) + 1, (len(rows), 1), generator=generator)
    places = first + torch.arange(len(pattern))
    kept = torch.randperm(len(rows), generator=generator) % APART == 0
    sizes = _powers_of_two(rows.gather(1, first)) * kept[:, None]  # of which the sums by places are zero exactly
    values = sizes * torch.tensor(pattern, dtype=tensor.dtype)
    return torch.zeros_like(rows).scatter_(1, places, values).reshape(tensor.shape)


def _powers_of_two(values: torch.Tensor) -> torch.Tensor:
    mantissa, exponent = torch.frexp(values.float())
    return torch.ldexp(mantissa.sign(), exponent - 1).to(values.dtype)
