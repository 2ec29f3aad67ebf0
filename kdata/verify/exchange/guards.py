"""Tensors between guard bars, and poison for memory that nobody has written.

Reading past an input gives NaN instead of a lucky zero; writing past a tensor is found out instead of corrupting the
process; and memory from ``torch.empty`` holds no answer that an earlier call left there.  On the CPU the bars lie
outside the tensor's storage, so that nothing about the tensor shows that it is guarded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import torch
from torch import from_numpy

BAR = 4096  # bytes before and after each tensor; a multiple of every alignment that kernels assume
ALIGNED = 512  # bytes; as CUDA's allocator aligns
PATTERN = 0xFF  # NaN in every floating type, -1 in signed integers, and an index that is out of range

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
_guarded: WeakValueDictionary[int, Bytes] = WeakValueDictionary()  # address of each guarded storage: with its bars
_truth = 1
_sown: dict[tuple[int, torch.dtype], torch.Tensor] = {}
_storage = torch.Tensor.untyped_storage  # before a candidate can patch it


def start_bools_as(truth: bool) -> None:
    """What unwritten memory of bools reads as from here on: they have no poison, and either may be the right answer."""
    global _truth
    _truth = int(truth)


def sow(seeds: Sequence[torch.Tensor]) -> None:
    """What unwritten memory of as many elements of their dtypes reads as from here on; any other is poison."""
    _sown.clear()
    _sown.update({(seed.numel(), seed.dtype): seed for seed in seeds})


def guarded(
    shape: Sequence[int], strides: Sequence[int] | None, dtype: torch.dtype, device: str | torch.device = "cpu"
) -> torch.Tensor:
    """A tensor full of poison, or of what was sown, with guard bars around it; row-major where no strides are given."""
    with torch._C.DisableTorchFunction():
        size = torch.empty((), dtype=dtype, device="cpu").element_size()
        strides = list(strides) if strides is not None else row_major(shape)
        span = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        body = _truth if dtype is torch.bool else PATTERN
        made = torch.empty(0, dtype=dtype, device=device)
        if torch.device(device).type == "cpu":
            made.set_(_between_bars(max(1, span) * size, body), 0, tuple(shape), tuple(strides))
        else:
            memory = torch.full((BAR + span * size + BAR,), PATTERN, dtype=torch.uint8, device=device)
            memory[BAR : BAR + span * size] = body
            made.set_(_storage(memory), BAR // size, tuple(shape), tuple(strides))
        seed = _sown.get((made.numel(), dtype))
        return made if seed is None else made.copy_(seed.reshape(made.shape))


def _between_bars(count: int, body: int) -> torch.UntypedStorage:
    """A storage of this many bytes."""
    memory: Bytes = np.full(BAR + ALIGNED + count + BAR, PATTERN, np.uint8)
    start = BAR + -(_address(memory) + BAR) % ALIGNED
    inside = memory[start : start + count]
    inside[:] = body
    storage = _storage(from_numpy(inside))  # keeps the memory for as long as it lives
    _guarded[storage.data_ptr()] = memory
    return storage


def _address(memory: Bytes) -> int:
    address: int = memory.__array_interface__["data"][0]
    return address


def storage_of(tensor: torch.Tensor) -> torch.UntypedStorage:
    """A tensor's storage, unnoticed by what watches the candidate."""
    with torch._C.DisableTorchFunction():
        return _storage(tensor)


def row_major(shape: Sequence[int]) -> list[int]:
    """Strides of a contiguous tensor."""
    return [math.prod(max(1, n) for n in shape[i + 1 :]) for i in range(len(shape))]


def intact(tensor: torch.Tensor) -> bool:
    """Whether nothing but poison stands in the guard bars of a tensor that ``guarded`` made."""
    storage = storage_of(tensor)
    if storage.device.type != "cpu":
        memory = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
        return bool((memory[:BAR] == PATTERN).all() and (memory[-BAR:] == PATTERN).all())
    around = _guarded.get(storage.data_ptr())
    if around is None:
        return False
    start = storage.data_ptr() - _address(around)
    return bool((around[:start] == PATTERN).all() and (around[start + storage.nbytes() :] == PATTERN).all())
