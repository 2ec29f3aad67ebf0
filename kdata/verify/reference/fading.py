"""Inputs that fade to nothing, line by line, for gradients, and some lines of zeros. In the reference's child only.

Norms, roots and quotients have derivatives that are anything but small where inputs are: what is added lest zero
divide decides there, and a formula that divides zero by zero is wrong where torch has zero. An ordinary draw shows
neither, and an answer next to nothing is right whatever its gradient.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference.draws import labels
from kdata.verify.values import computes

SCALES = (1.0, 1e-2, 1e-4, 1e-6, 1e-9)  # of one line after another; squares of the last are no zeros yet
FEWEST = 4  # lines that are told apart


def fading(inputs: list[Any], zeros: bool, first: bool = False) -> list[Any] | None:
    """All floating inputs but labels with lines of one small magnitude after another; None where there are none.

    Lines go through every dimension that has several, for norms are along any: an element is as small as the smallest
    one of its lines, so that what is left of each has that one's size. Of ``first``, through the first of them only.
    ``zeros``: one line along each dimension is zero, and so is one matrix, for norms are of either.
    """
    leaves = tree_leaves(inputs)
    still = {id(leaves[n]) for n in labels(leaves)}
    if all(not computes(t) or id(t) in still for t in leaves):
        return None

    def change(value: Any) -> Any:
        if not computes(value) or id(value) in still or not value.numel():
            return value
        faded = _faded(value, first)
        if zeros:
            _empty(faded)
        return faded

    return [*tree_map(change, inputs)]


def _faded(tensor: Tensor, first: bool) -> Tensor:
    dims = [n for n, size in enumerate(tensor.shape) if size >= FEWEST]
    scales = torch.ones([1] * tensor.ndim, dtype=torch.float64)
    for dim in dims[:1] if first else dims:
        size = tensor.shape[dim]
        along = torch.tensor(SCALES, dtype=torch.float64).repeat(size // len(SCALES) + 1)[:size]
        scales = torch.minimum(scales, along.reshape([size if n == dim else 1 for n in range(tensor.ndim)]))
    return (tensor * scales).to(tensor.dtype).clone(memory_format=torch.contiguous_format)


def emptied(inputs: list[Any]) -> list[Any]:
    """All floating inputs but labels with the same lines zero: what is divided by a norm of these is zero, too."""
    leaves = tree_leaves(inputs)
    still = {id(leaves[n]) for n in labels(leaves)}

    def change(value: Any) -> Any:
        if not computes(value) or id(value) in still or not value.numel():
            return value
        held = value.clone(memory_format=torch.contiguous_format)
        _empty(held)
        return held

    return [*tree_map(change, inputs)]


def _empty(tensor: Tensor) -> None:
    """Make the lines through one place zero, and of several matrices one; not where that is all of it."""
    place = [size // 2 for size in tensor.shape]
    for dim, size in enumerate(tensor.shape):
        if tensor.numel() > size:
            tensor[tuple(slice(None) if n == dim else at for n, at in enumerate(place))] = 0
    if tensor.numel() > math.prod(tensor.shape[-2:]):
        tensor[tuple(place[:-2])] = 0
