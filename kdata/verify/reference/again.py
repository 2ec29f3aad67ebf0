"""Inputs that are the last call's but for a few elements, which caches take for these. In the reference's child only.

Who looks at the first and the last element only, at a sum, or at some dozens of samples finds what it knows, and
returns the answer to other inputs.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference.values import computes, ends, integral, sizes_of

MANY, FEW = 0.1, 0.001  # shares of the elements that change; of some dozens of samples one in twenty is among the few
SMALLER = 0.25, 0.75  # by what they are multiplied, between these


def nearly(inputs: list[Any], generator: torch.Generator) -> list[Any]:
    """A tenth of the elements smaller, neither the first nor the last ones; zero in masks, see ``_masks``."""
    return [*tree_map(lambda t: _changed(t, generator, MANY) if _maskable(t) else t, inputs)]


def barely(inputs: list[Any], generator: torch.Generator) -> list[Any] | None:
    """A thousandth of the elements smaller, one at least; where none change, two integers in each other's place.

    None where nothing changes.
    """
    sizes = sizes_of(inputs)
    smaller = [*tree_map(lambda t: _changed(t, generator, FEW) if _maskable(t) else t, inputs)]
    if _differ(smaller, inputs):
        return smaller
    swapped = [*tree_map(lambda t: t if not integral(t) or ends(t, sizes) else _swapped(t, generator), inputs)]
    return swapped if _differ(swapped, inputs) else None


def _differ(changed: list[Any], inputs: list[Any]) -> bool:
    pairs = zip(tree_leaves(changed), tree_leaves(inputs), strict=True)
    return any(a is not b and not torch.equal(a, b) for a, b in pairs)


def _changed(tensor: torch.Tensor, generator: torch.Generator, share: float) -> torch.Tensor:
    count = tensor.numel()
    chosen = torch.rand(count, generator=generator) < share
    if count > 2:
        chosen[int(torch.randint(1, count - 1, (), generator=generator))] = True
        chosen[0] = chosen[-1] = False
    else:
        chosen[count // 2] = True
    low, high = SMALLER
    factor = torch.where(chosen, low + (high - low) * torch.rand(count, generator=generator), torch.ones(count))
    if count > 2 and _masks(tensor):
        return tensor.masked_fill(chosen.reshape(tensor.shape), 0)
    return (tensor * factor.reshape(tensor.shape)).to(tensor.dtype)


def _swapped(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """With an element and another one that differs from it in each other's place; as it is where there are none.

    What is in order stays: numbers of segments.
    """
    values = tensor.reshape(-1)
    one = int(torch.randint(values.numel(), (), generator=generator)) if values.numel() else 0
    others = (values != values[one]).nonzero()[:, 0] if values.numel() else values
    if not others.numel() or bool((values[1:] >= values[:-1]).all()):
        return tensor
    other = int(others[int(torch.randint(others.numel(), (), generator=generator))])
    changed = values.clone()
    changed[[one, other]] = values[[other, one]]
    return changed.reshape(tensor.shape)


def _masks(tensor: torch.Tensor) -> bool:
    """Whether all elements are of one value but for zeros: a mask, as likely as not, whose zeros stay."""
    others = tensor[tensor != 0]
    return tensor.dtype is torch.bool or others.numel() == 0 or bool((others == others[0]).all())


def _maskable(value: Any) -> bool:
    return computes(value) or (isinstance(value, torch.Tensor) and value.dtype is torch.bool and value.numel() > 0)
