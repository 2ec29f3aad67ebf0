"""Weights that lean to one side, as those of decays and gates do once they are trained. In the reference's child only.

A decay is drawn near a half, and one as large as a reference bears has shut: between them a memory is long, and who
keeps some steps of it is wrong only there. Weights that are multiplied with many numbers stay, for they lean together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from kdata.verify.reference.draws import LIFT
from kdata.verify.reference.probe import PRODUCTS

TURNS = (LIFT, -LIFT, 0.0)  # of one element after another


class Factors(TorchDispatchMode):
    """Notes where what is a factor of sums of products lies, or a table that is looked up."""

    def __init__(self, looks_up: frozenset[str]) -> None:
        super().__init__()
        self._looks_up = looks_up
        self._seen: set[int] = set()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(function).split(".")[1]
        if name in self._looks_up or any(part in name for part in PRODUCTS):
            self._seen |= {t.data_ptr() for t in tree_leaves([args, kwargs]) if isinstance(t, Tensor)}
        return function(*args, **(kwargs or {}))

    def others(self, module: nn.Module) -> list[str]:
        """The trained parameters that are none of these."""
        named = ((name, p) for name, p in module.named_parameters() if p.requires_grad and p.is_floating_point())
        return [name for name, parameter in named if parameter.data_ptr() not in self._seen]


def leaning(state: dict[str, Any], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The weights with one after another of these elements far above zero, far below it, and as it is; or turned."""
    for sign in (1, -1):
        yield state | {name: _leaned(state[name], sign) for name in names}


def _leaned(weights: Tensor, sign: int) -> Tensor:
    count = weights.numel()
    lean = torch.tensor(TURNS, dtype=weights.dtype).repeat(count // len(TURNS) + 1)[:count]
    return weights + sign * lean.reshape(weights.shape)
