"""Inputs that fade to nothing, line by line, for gradients, and some lines of zeros. In the reference's child only.

Norms, roots and quotients have derivatives that are anything but small where inputs are: what is added lest zero
divide decides there, and a formula that divides zero by zero is wrong where torch has zero. An ordinary draw shows
neither, and an answer next to nothing is right whatever its gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference.draws import labels
from kdata.verify.reference.values import computes

SCALES = (1.0, 1e-2, 1e-4, 1e-6, 1e-9)  # of one line after another; squares of the last are no zeros yet
FEWEST = 4  # lines that are told apart


def fading(inputs: list[Any], zeros: bool, first: bool = False) -> list[Any] | None:
    """All floating inputs but labels with lines of one small magnitude after another; None where there are none.

    Lines go through every dimension that has several, for norms are along any: an element is as small as the smallest
    one of its lines, so that what is left of each has that one's size. Of ``first``, through the first of them only.
    ``zeros``: one line along each dimension is zero, and so is one matrix, for norms are of either.
    """

    def fade(value: Tensor) -> Tensor:
        return _empty(_faded(value, first)) if zeros else _faded(value, first)

    return _changed(inputs, fade)


def emptied(inputs: list[Any]) -> list[Any] | None:
    """All floating inputs but labels with the same lines zero: what is divided by a norm of these is zero, too."""
    return _changed(inputs, lambda value: _empty(value.clone(memory_format=torch.contiguous_format)))


def _changed(inputs: list[Any], change: Callable[[Tensor], Tensor]) -> list[Any] | None:
    """The inputs with all floating ones but labels changed; None where there are none."""
    leaves = tree_leaves(inputs)
    still = {id(leaves[n]) for n in labels(leaves)}
    chosen = {id(t) for t in leaves if computes(t) and t.numel() and id(t) not in still}
    return [*tree_map(lambda value: change(value) if id(value) in chosen else value, inputs)] if chosen else None


def _faded(tensor: Tensor, first: bool) -> Tensor:
    dims = [n for n, size in enumerate(tensor.shape) if size >= FEWEST]
    scales = torch.ones([1] * tensor.ndim, dtype=torch.float64)
    for dim in dims[:1] if first else dims:
        size = tensor.shape[dim]
        along = torch.tensor(SCALES, dtype=torch.float64).repeat(size // len(SCALES) + 1)[:size]
        scales = torch.minimum(scales, along.reshape([size if n == dim else 1 for n in range(tensor.ndim)]))
    return (tensor * scales).to(tensor.dtype).clone(memory_format=torch.contiguous_format)


def _empty(tensor: Tensor) -> Tensor:
    """Itself, with the lines through one place zero, and of several matrices one; not where that is all of it."""
    place = [size // 2 for size in tensor.shape]
    for dim, size in enumerate(tensor.shape):
        if tensor.numel() > size:
            tensor[tuple(slice(None) if n == dim else at for n, at in enumerate(place))] = 0
    if tensor.numel() > math.prod(tensor.shape[-2:]):
        tensor[tuple(place[:-2])] = 0
    return tensor
