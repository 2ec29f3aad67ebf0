"""Distributions of inputs beyond the task's own. In the reference's child only.

Each keeps what a task may promise about its inputs: zeros stay zeros (triangles, masks), signs stay signs, integers
stay what they are; and none is used where the reference itself is not finite or not well-conditioned on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

DETAILS = {
    "natural": "", "centred": "inputs centred on zero", "nearly": "a tenth of the last inputs changed",
    "wide": "inputs from 0.01 to 200 times their size", "offset": "inputs moved by 100",
}  # fmt: skip
LOW, HIGH = -2.0, 2.3  # decimal exponents of ``wide``
OFFSET = 100.0


def draw(style: str, inputs: list[Any], generator: torch.Generator) -> list[Any] | None:
    """The inputs in a style, None where it does not apply.

    - centred: normal in place of what is never negative, on which a relu is the identity;
    - nearly: the same but for a tenth of the elements, neither the first nor the last ones, by which caches know
      inputs again;
    - wide: magnitudes over four decades, where exponentials without a maximum taken off overflow;
    - offset: far from zero, where sums of squares less squares of sums cancel.
    """
    floats = [t for t in tree_leaves(inputs) if _floating(t)]
    if style == "natural" or not floats:
        return inputs if style == "natural" else None
    if style == "centred":
        return None if any(float(t.min()) < 0 for t in floats) else _map(inputs, lambda t: _normal(t, generator))
    if style == "nearly":
        return _map(inputs, lambda t: _changed(t, generator))
    if style == "wide":
        return _map(inputs, lambda t: t * _scales(t, generator))
    return None if any(bool((t == 0).any()) for t in floats) else _map(inputs, lambda t: t + OFFSET)


def thinned(value: Any, generator: torch.Generator) -> Any:
    """A floating tensor with an eighth of its elements set to zero, as a kernel would see it that drops terms."""
    if not _floating(value):
        return value
    return value.masked_fill(torch.rand(value.shape, generator=generator) < 0.125, 0.0)


def _floating(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel() > 0


def _map(inputs: list[Any], change: Callable[[torch.Tensor], torch.Tensor]) -> list[Any]:
    changed: list[Any] = tree_map(lambda t: change(t).to(t.dtype) if _floating(t) else t, inputs)
    return changed


def _normal(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.randn(tensor.shape, generator=generator)


def _changed(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    count = tensor.numel()
    chosen = torch.rand(count, generator=generator) < 0.1
    chosen[count // 2] = True
    if count > 2:
        chosen[0] = chosen[-1] = False
    factor = torch.where(chosen, 0.25 + 0.5 * torch.rand(count, generator=generator), torch.ones(count))
    return tensor * factor.reshape(tensor.shape)


def _scales(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return 10.0 ** (LOW + (HIGH - LOW) * torch.rand(tensor.shape, generator=generator))
