"""Rows that look regular at their ends and in their middle, and are not in between. In the reference's child only.

What takes a row for constant, for sorted, for a progression or for the row before it, or a matrix for a symmetric one,
by a few of its elements, is wrong there. Of random numbers none look so, and of regular ones such answers are right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from kdata.verify.reference.draws import labels
from kdata.verify.reference.values import computes

LEAST = 12  # elements of a row that has something in between
PROBED = 4  # elements at a row's beginning that stay as they look
ROWS = 128  # that seem so
SHARE = 0.25  # of what lies between: so much is not as it looks
Row = Callable[[torch.Tensor], torch.Tensor]


def seeming(inputs: list[Any], generator: torch.Generator, ties: bool = True) -> list[Any] | None:
    """The inputs with floating rows that seem regular; None where none fit. Without ``ties`` no two are equal."""
    leaves, form = tree_flatten(inputs)
    still = labels(leaves)
    fit = {n for n, leaf in enumerate(leaves) if n not in still and computes(leaf) and _fits(leaf)}
    changed = [_changed(leaf, generator, ties) if n in fit else leaf for n, leaf in enumerate(leaves)]
    found: list[Any] | None = tree_unflatten(changed, form) if fit else None
    return found


def _fits(leaf: torch.Tensor) -> bool:
    """Whether its rows are long, and in no order that may be meant: boundaries of buckets are to be sorted."""
    if not leaf.ndim or leaf.shape[-1] < LEAST:
        return False
    steps = leaf.diff(dim=-1)
    return not ((steps >= 0).all() or (steps <= 0).all())


def _changed(leaf: torch.Tensor, generator: torch.Generator, ties: bool) -> torch.Tensor:
    rows = leaf.detach().clone().reshape(-1, leaf.shape[-1])
    kinds: list[Row] = [_falling, _progression, _rising, *([_constant] if ties else [])]
    for number, row in enumerate(rows[:ROWS]):
        alike = ties and number % 2 == 1  # as the one before it
        regular = rows[number - 1] if alike else kinds[number // 2 % len(kinds)](row)
        rows[number] = _disturbed(regular, row, generator, own=alike or bool(regular[0] == regular[-1]))
    made = rows.reshape(leaf.shape)
    return _mirrored(made, leaf, generator) if leaf.ndim > 1 and leaf.shape[-1] == leaf.shape[-2] else made


def _constant(row: torch.Tensor) -> torch.Tensor:
    return row[:1].expand_as(row)


def _falling(row: torch.Tensor) -> torch.Tensor:
    return row.sort(descending=True).values


def _rising(row: torch.Tensor) -> torch.Tensor:
    return row.sort().values


def _progression(row: torch.Tensor) -> torch.Tensor:
    """From the least to the most of a row, by steps that are powers of two, so that differences are equal."""
    low, high = float(row.min()), float(row.max())
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        return row
    step = 2.0 ** math.floor(math.log2((high - low) / len(row)))
    return (math.ceil(low / step) + torch.arange(len(row), dtype=torch.float64)).mul(step).to(row.dtype)


def _disturbed(regular: torch.Tensor, row: torch.Tensor, generator: torch.Generator, own: bool) -> torch.Tensor:
    """Some of what lies in between as it was drawn (``own``), or in another order: what is sorted keeps its ends."""
    size = len(row)
    between = torch.arange(PROBED, size - 2)
    between = between[(between != size // 2) & (between != size // 4)]
    count = max(2, int(SHARE * len(between)))
    chosen = between[torch.randperm(len(between), generator=generator)[:count]]
    found = regular.clone()
    found[chosen] = row[chosen] if own else regular[chosen.roll(1)]
    return found


def _mirrored(made: torch.Tensor, drawn: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Every other matrix, or the only one, symmetric but for some of what is no edge of it."""
    size = drawn.shape[-1]
    symmetric = drawn.tril() + drawn.tril(-1).transpose(-1, -2)
    within = torch.zeros(size, size, dtype=torch.bool)
    within[2:-2, 2:-2] = torch.rand(size - 4, size - 4, generator=generator) < SHARE
    mirrored = torch.where(within, drawn, symmetric)
    if drawn.ndim == 2:
        return mirrored
    every = torch.arange(drawn.shape[0]) % 2 == 0
    return torch.where(every.view(-1, *[1] * (drawn.ndim - 1)), mirrored, made)
