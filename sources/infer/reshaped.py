"""Inputs of which nothing is read but the shape: ``F.interpolate(x, size=like.shape[2:])``.

Such an input matters, where the answer follows its shape: a kernel that was made for one size is wrong at others.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import torch

Answers = list[torch.Tensor]
READS_SHAPE, READS_VALUES = "shape", "values"


def shape_matters(
    inputs: list[Any],
    tensors: Callable[[Any], Iterator[torch.Tensor]],
    number: int,
    run: Callable[[list[Any]], Answers],
    before: Answers,
) -> bool:
    """Whether the answer is another one when a tensor is twice or half as long, or one, in a dimension.

    ``tensors`` gives those of the inputs, of which it is that of this ``number``; ``run`` answers to inputs and
    ``before`` is what it answered to these.  Sizes with which it fails tell nothing.
    """
    tensor = list(tensors(inputs))[number]
    for other in _resized(tensor):
        changed = copy.deepcopy(inputs)
        list(tensors(changed))[number].data = other
        try:
            after = run(changed)
        except Exception:  # noqa: BLE001, S112 - this size is tied to another
            continue
        pairs = zip(before, after, strict=False)
        if len(after) != len(before) or any(a.shape != b.shape or not torch.equal(a, b) for a, b in pairs):
            return True
    return False


def _resized(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The tensor repeated, or cut, along each dimension; the last, which are seldom batches, first."""
    for dimension in reversed(range(tensor.dim())):
        yield torch.cat([tensor, tensor], dimension)
        size = tensor.shape[dimension]
        for less in sorted({n for n in (size // 2, 1) if 0 < n < size}, reverse=True):
            yield tensor.narrow(dimension, 0, less).clone()
