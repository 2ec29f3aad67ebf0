"""Rows in half precision of one large number and many that are next to nothing beside it. In the reference's child.

Random numbers are off to either side when they are added up in half precision, and their sum is within what is allowed.
Here each of many terms is below half an ulp of the first one, a block's sum of them, too: who carries the sum in half
precision stays where it began.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference.cancelling import HALVES
from kdata.verify.values import computes

FEWEST = 64  # elements of a row, which together are some ulps of its sum
BLOCK = 16  # terms that are summed in single precision, and then added
NEARLY = 0.9  # of half an ulp
LARGE = 64.0
GROWS = ("softmax", "logsumexp", "logcumsumexp", "exp", "attention")  # parts of names of what adds up exponentials


def dominated(inputs: list[Any], names: Collection[str]) -> list[Any] | None:
    """The inputs with such rows, or such that their exponentials are; None where none is long and in half precision."""
    grows = any(part in name for name in names for part in GROWS)

    def row(value: Any) -> Any:
        if not _long(value):
            return value
        share = NEARLY * torch.finfo(value.dtype).eps / 2 / BLOCK
        changed = torch.full_like(value, 0.0 if grows else LARGE * share)
        changed[..., 0] = -math.log(share) if grows else LARGE
        return changed

    return [*tree_map(row, inputs)] if any(map(_long, tree_leaves(inputs))) else None


def _long(value: Any) -> bool:
    return computes(value) and value.dtype in HALVES and value.ndim > 0 and value.shape[-1] >= FEWEST
