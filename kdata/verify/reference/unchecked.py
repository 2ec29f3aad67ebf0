"""Operators of torch that read beyond their tensors where integers say so: here they raise. In the reference's child.

Elsewhere they end the process, and with it what is known of a task whose labels are drawn larger once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor

_ctc_loss = torch.ctc_loss


@contextmanager
def checked() -> Iterator[None]:
    """Have them raise."""
    torch.ctc_loss = _checked_ctc_loss
    try:
        yield
    finally:
        torch.ctc_loss = _ctc_loss


def _checked_ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, *more: Any, **options: Any
) -> Tensor:  # fmt: skip
    """``torch.ctc_loss``.

    Raises:
        IndexError: a label is no class, or a length is beyond what it is of.
    """
    if not any(isinstance(t, FakeTensor) for t in (log_probs, targets, input_lengths, target_lengths)):
        classes, steps = log_probs.shape[-1], log_probs.shape[0]
        most = targets.shape[-1] if targets.ndim > 1 else targets.numel()
        _within("a label", targets, classes - 1)
        _within("an input's length", input_lengths, steps)
        _within("a target's length", target_lengths, most)
        if targets.ndim == 1 and int(torch.as_tensor(target_lengths).sum()) > most:
            raise IndexError("targets are fewer than their lengths say")
    made: Tensor = _ctc_loss(log_probs, targets, input_lengths, target_lengths, *more, **options)
    return made


def _within(what: str, values: Any, most: int) -> None:
    held = torch.as_tensor(values)
    if held.numel() and not 0 <= int(held.min()) <= int(held.max()) <= most:
        raise IndexError(f"{what} is not between 0 and {most}")
