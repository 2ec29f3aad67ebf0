"""Rows in half precision of one large number and many that are next to nothing beside it. In the reference's child.

Random numbers are off to either side when they are added up in half precision, and their sum is within what is allowed.
Here each of many terms is below half an ulp of the first one, a block's sum of them, too: who carries the sum in half
precision stays where it began.  A row lies along the last dimension, or along the one that the reference sums over.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference.cancelling import HALVES
from kdata.verify.reference.values import computes

FEWEST = 64  # elements of a row, which together are some ulps of its sum
BLOCK = 16  # terms that are summed in single precision, and then added
NEARLY = 0.9  # of half an ulp
LARGE = 64.0
GROWS = ("softmax", "logsumexp", "logcumsumexp", "exp", "attention")  # parts of names of what adds up exponentials
SUMS = frozenset("sum mean var var_mean std _softmax _log_softmax logsumexp cumsum _logcumsumexp".split())


class Dims(TorchDispatchMode):
    """Notes along which dimension tensors of a shape are summed: the last one of several."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[torch.Size, int] = {}

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if str(function).split(".")[1] in SUMS and len(args) > 1 and computes(args[0]) and args[0].ndim:
            dims = [args[1]] if isinstance(args[1], int) else args[1] or [-1]
            last = max(dim % args[0].ndim for dim in dims)
            self.found[args[0].shape] = max(last, self.found.get(args[0].shape, 0))
        return function(*args, **(kwargs or {}))


def dominated(inputs: list[Any], names: Collection[str], dims: Mapping[torch.Size, int]) -> list[Any] | None:
    """The inputs with such rows, or such that their exponentials are; None where none is long and in half precision.

    ``dims``: along which those of a shape lie that do not along the last dimension.
    """
    grows = any(part in name for name in names for part in GROWS)

    def row(value: Any) -> Any:
        if not _long(value, dims):
            return value
        share = NEARLY * torch.finfo(value.dtype).eps / 2 / BLOCK
        changed = torch.full_like(value, 0.0 if grows else LARGE * share)
        changed.select(dims.get(value.shape, -1), 0).fill_(-math.log(share) if grows else LARGE)
        return changed

    return [*tree_map(row, inputs)] if any(_long(t, dims) for t in tree_leaves(inputs)) else None


def _long(value: Any, dims: Mapping[torch.Size, int]) -> bool:
    half = computes(value) and value.dtype in HALVES and value.ndim > 0
    return half and value.shape[dims.get(value.shape, -1)] >= FEWEST
