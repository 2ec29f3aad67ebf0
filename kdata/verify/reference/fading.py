"""Inputs that fade to nothing, line by line, for gradients. In the reference's child only.

Norms, roots and quotients have derivatives that are anything but small where inputs are: what is added lest zero
divide decides there, and a formula that divides zero by zero is wrong where torch has zero. An ordinary draw shows
neither, and an answer next to nothing is right whatever its gradient.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference.draws import labels
from kdata.verify.values import computes

SCALES = (1.0, 1e-2, 1e-4, 1e-6, 1e-9)  # of one line after another; squares of the last are no zeros yet
FEWEST = 4  # lines that are told apart


def fading(inputs: list[Any], zeros: bool) -> list[Any] | None:
    """All floating inputs but labels with lines of one small magnitude after another; None where there are none.

    Lines go through the first dimension that has several, what is left is a line each. ``zeros``: one line along each
    dimension is zero, and so is one matrix, for norms are of either.
    """
    leaves = tree_leaves(inputs)
    still = {id(leaves[n]) for n in labels(leaves)}
    if all(not computes(t) or id(t) in still for t in leaves):
        return None

    def change(value: Any) -> Any:
        if not computes(value) or id(value) in still or not value.numel():
            return value
        faded = _faded(value)
        if zeros:
            _empty(faded)
        return faded

    return [*tree_map(change, inputs)]


def _faded(tensor: Tensor) -> Tensor:
    dim = next((n for n, size in enumerate(tensor.shape) if size >= FEWEST), None)
    if dim is None:
        return tensor.clone(memory_format=torch.contiguous_format)
    size = tensor.shape[dim]
    scales = torch.tensor(SCALES, dtype=torch.float64).repeat(size // len(SCALES) + 1)[:size]
    shape = [size if n == dim else 1 for n in range(tensor.ndim)]
    return (tensor * scales.reshape(shape)).to(tensor.dtype).contiguous()


def _empty(tensor: Tensor) -> None:
    """Make the lines through one place zero, and of several matrices one; not where that is all of it."""
    place = [size // 2 for size in tensor.shape]
    for dim in range(tensor.ndim if tensor.ndim > 1 else 0):
        tensor[tuple(slice(None) if n == dim else at for n, at in enumerate(place))] = 0
    if tensor.ndim > 2:
        tensor[tuple(place[:-2])] = 0
