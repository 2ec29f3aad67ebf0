"""Unwritten memory that begins as nearly the answer: who takes what lies there for a guess, or for an answer, shows it.

Poison is no guess; what an earlier call of the same size has left in an allocator's memory is one, and may be right.
In the host's child.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch
from torch.utils._pytree import tree_leaves

from kdata.verify.evidence.sown import DTYPES, NEARLY
from kdata.verify.exchange import guards

SOWN = {getattr(torch, name) for name in DTYPES}


class Calls(Protocol):
    """The calls of one candidate, one after another."""

    last: Any  # what the last one leaves for the next one; None where it failed

    def trial(self, given: dict[str, Any]) -> dict[str, Any]:
        """Call once, and report."""


def again(calls: Calls, given: dict[str, Any], move: AbstractContextManager[Any]) -> dict[str, Any] | None:
    """A call after which memory begins so, and that call once more; None where nothing can be sown."""
    calls.trial(given)
    if calls.last is None:
        return None
    with move:
        kinds = (t for t in tree_leaves(calls.last.outputs) if isinstance(t, torch.Tensor))
        seeds = [t.detach() * NEARLY for t in kinds if t.dtype in SOWN and t.layout is torch.strided]
    guards.sow(seeds)
    try:
        return calls.trial(given) if seeds else None
    finally:
        guards.sow(())
