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
    ``before`` is what it answered to these.  Sizes with which it fails tell nothing.  Where the values are read at
    another size, as those of a graph of more than one node, it is the values that should have mattered.  What answers
    the same to what is no tensor reads neither: one run tells so, where all sizes would take many.
    """
    tensor = list(tensors(inputs))[number]
    if _unread(inputs, tensor, run, before):
        return False

    def answer(tensor: torch.Tensor) -> Answers | None:
        changed = copy.deepcopy(inputs)
        list(tensors(changed))[number].data = tensor
        try:
            return run(changed)
        except Exception:  # noqa: BLE001 - this size, or number, is tied to another
            return None

    for other in _resized(tensor):
        after = answer(other)
        if after is not None and not same(before, after):
            return same(after, answer(_with_another_first(other)))
    return False


def _unread(inputs: list[Any], tensor: torch.Tensor, run: Callable[[list[Any]], Answers], before: Answers) -> bool:
    """Whether the answer stays the same with something in place of a tensor that has neither values nor a shape."""
    given, found = _with_nothing(inputs, tensor)
    if not found:  # it is in a record
        return False
    try:
        return same(before, run(given))
    except Exception:  # noqa: BLE001 - something of it is read
        return False


def _with_nothing(value: Any, tensor: torch.Tensor) -> tuple[Any, bool]:
    """Nested inputs with a plain object in place of a tensor, and whether it was found in them."""
    if value is tensor:
        return object(), True
    if type(value) not in (list, tuple, dict):
        return value, False
    every = [_with_nothing(v, tensor) for v in (value.values() if isinstance(value, dict) else value)]
    inner = [v for v, _ in every]
    made = dict(zip(value, inner, strict=True)) if isinstance(value, dict) else type(value)(inner)
    return made, any(found for _, found in every)


def same(one: Answers | None, other: Answers | None) -> bool:
    """Whether two runs gave the same; what failed gave nothing."""
    if one is None or other is None or len(one) != len(other):
        return False
    return all(a.shape == b.shape and torch.equal(a, b) for a, b in zip(one, other, strict=True))


def _with_another_first(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor with another number in its first place: 0, or 1 where that is what stands there."""
    changed = tensor.clone(memory_format=torch.contiguous_format)
    first = changed.view(-1)[:1]
    first.copy_(first == 0)
    return changed


def _resized(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The tensor repeated, or cut, along each dimension; the last, which are seldom batches, first."""
    for dimension in reversed(range(tensor.dim())):
        yield torch.cat([tensor, tensor], dimension)
        size = tensor.shape[dimension]
        for less in sorted({n for n in (size // 2, 1) if 0 < n < size}, reverse=True):
            yield tensor.narrow(dimension, 0, less).clone()
