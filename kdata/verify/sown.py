"""Unwritten memory that begins as nearly the answer: who takes what lies there for a guess, or for an answer, shows it.

Poison is no guess; what an earlier call of the same size has left in an allocator's memory is one, and may be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

from kdata.verify import guards
from kdata.verify.compare import Tensors, leaves

NEARLY = 1 + 2.0**-21  # times the answer: ulps that rounding in another order would not make everywhere
DTYPES = {"float32": torch.float32, "float64": torch.float64}  # whose ulps are small beside what is allowed
SHARE = 0.25  # of an answer that is just what was sown, and not what it was before


class Calls(Protocol):
    """The calls of one candidate, one after another."""

    last: Any  # what the last one leaves for the next one

    def trial(self, given: dict[str, Any]) -> dict[str, Any]:
        """Call once, and report."""


def again(calls: Calls, given: dict[str, Any], move: AbstractContextManager[Any]) -> dict[str, Any] | None:
    """A call after which memory begins so, and that call once more; None where nothing can be sown. In a child."""
    calls.trial(given)
    if calls.last is None:
        return None
    with move:
        kinds = (t for t in tree_leaves(calls.last.outputs) if isinstance(t, torch.Tensor))
        seeds = [t.detach() * NEARLY for t in kinds if t.dtype in DTYPES.values() and t.layout is torch.strided]
    guards.sow(seeds)
    try:
        return calls.trial(given) if seeds else None
    finally:
        guards.sow(())


def grown(first: Mapping[str, Any], report: Mapping[str, Any], returned: Tensors) -> float:
    """The largest share of an output that is what was sown, and not what the first call returned. Trusted."""
    if "outputs" not in first or "outputs" not in report:
        return 0.0
    shares = [0.0]
    for (_, one), (_, other) in zip(leaves(first["outputs"]), leaves(report["outputs"]), strict=False):
        if "tensor" not in one or "tensor" not in other:
            continue
        dtype = returned.entry(one["tensor"])["dtype"]
        was, now = (returned.array(node["tensor"]) for node in (one, other))
        if dtype in DTYPES and was.shape == now.shape and was.size:
            seed = was.astype(dtype) * np.dtype(dtype).type(NEARLY)
            shares.append(float(((now == seed) & (seed != was)).mean()))
    return max(shares)
