"""Whether a reference makes integers of numbers that are beyond these: undefined, and so no answer. In its child only.

A CPU makes the least integer of whatever is beyond all, a GPU the nearest one, and zero of NaN.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kdata.verify.reference.values import computes, integral

CASTS = frozenset({"_to_copy", "copy_", "copy"})


class Casts(TorchDispatchMode):
    """Notes while operators run whether one made integers of what they do not hold."""

    def __init__(self) -> None:
        super().__init__()
        self.undefined = False

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        if str(function).split(".")[1] in CASTS and integral(out) and not self.undefined:
            source = args[0] if len(args) < 2 or not isinstance(args[1], torch.Tensor) else args[1]
            self.undefined = computes(source) and not _held(source, out.dtype)
        return out


def _held(source: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether all of these numbers, without their fractions, are integers of this type."""
    limits, whole = torch.iinfo(dtype), source.double().trunc()
    return bool(((whole >= limits.min) & (whole < float(limits.max) + 1)).all())
