"""Tensors between guard bars, and poison for memory that nobody has written.

Reading past an input gives NaN instead of a lucky zero; writing past a tensor is found out instead of corrupting the
process; and memory from ``torch.empty`` holds no answer that an earlier call left there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

BAR = 4096  # bytes before and after each tensor; a multiple of every alignment that kernels assume
PATTERN = 0xFF  # NaN in every floating type, -1 in signed integers, and an index that is out of range

_guarded: dict[int, int] = {}  # address of each guarded storage: its bytes
_storage = torch.Tensor.untyped_storage  # before a candidate can patch it


def guarded(
    shape: Sequence[int], strides: Sequence[int] | None, dtype: torch.dtype, device: str | torch.device = "cpu"
) -> torch.Tensor:
    """A tensor full of poison with guard bars around it; row-major where no strides are given."""
    size = torch.empty((), dtype=dtype, device="cpu").element_size()
    strides = list(strides) if strides is not None else row_major(shape)
    span = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    # bool has no poison that reads back as a bool: its own bytes start as 1
    body = 1 if dtype is torch.bool else PATTERN
    memory = torch.full((BAR + span * size + BAR,), PATTERN, dtype=torch.uint8, device=device)
    memory[BAR : BAR + span * size] = body
    storage = _storage(memory)
    _guarded[storage.data_ptr()] = storage.nbytes()
    return torch.empty(0, dtype=dtype, device=device).set_(storage, BAR // size, tuple(shape), tuple(strides))


def is_guarded(tensor: torch.Tensor) -> bool:
    """Whether ``guarded`` made this tensor's memory."""
    storage = _storage(tensor)
    return storage.nbytes() == _guarded.get(storage.data_ptr(), -1)


def row_major(shape: Sequence[int]) -> list[int]:
    """Strides of a contiguous tensor."""
    return [math.prod(max(1, n) for n in shape[i + 1 :]) for i in range(len(shape))]


def intact(tensor: torch.Tensor) -> bool:
    """Whether nothing but poison stands in the guard bars of a tensor that ``guarded`` made."""
    storage = _storage(tensor)
    memory = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
    return bool((memory[:BAR] == PATTERN).all() and (memory[-BAR:] == PATTERN).all())
