"""Memory that a reference never writes: an answer that holds any of it is none. In the reference's child only.

``out = torch.empty_like(x); out[order] = x`` answers where the order names every row. Where it does not, the rest is
what was in memory, nothing as often as not, and no candidate's is the same.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

EMPTY = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")


class Poisoned(TorchDispatchMode):
    """Floating numbers that nobody has written are NaN."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        if str(function).split(".")[1] in EMPTY and isinstance(made, torch.Tensor) and made.is_floating_point():
            made.fill_(torch.nan)
        return made
