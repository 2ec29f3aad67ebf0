"""Makes operators of torch raise that read beyond their tensors where integers say so. In the reference's child only.

As torch has them they end the process, and with it all that is known of a task whose labels were once drawn too large.
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
    """Inside of it they raise: ``torch.ctc_loss``."""
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
        _within("an input's length", input_lengths, steps)
        _within("a target's length", target_lengths, most)
        _within("a label", _read(targets, torch.as_tensor(target_lengths)), classes - 1)
    made: Tensor = _ctc_loss(log_probs, targets, input_lengths, target_lengths, *more, **options)
    return made


def _read(targets: Tensor, lengths: Tensor) -> Tensor:
    """The labels that count: what fills up a row behind its length may be no class, ``-1``.

    Raises:
        IndexError: rows that follow each other are fewer than their lengths say.
    """
    if targets.ndim > 1:
        return targets[torch.arange(targets.shape[-1]) < lengths.reshape(-1, 1)]
    if int(lengths.sum()) > len(targets):
        raise IndexError("targets are fewer than their lengths say")
    return targets[: int(lengths.sum())]


def _within(what: str, values: Any, most: int) -> None:
    held = torch.as_tensor(values)
    if held.numel() and not 0 <= int(held.min()) <= int(held.max()) <= most:
        raise IndexError(f"{what} is not between 0 and {most}")
