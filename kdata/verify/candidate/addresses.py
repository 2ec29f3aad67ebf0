"""Tensors that a wrapper hands to kernels by their addresses: grouped products take tables of pointers. In the child.

A kernel may touch what a table among its arguments points to, if the wrapper has asked for that address, or has handed
the tensor to a kernel, and the memory is still there: what a wrapper has let go may be another tensor's by the time a
GPU gets to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from kdata.verify.exchange.guards import storage_of

TABLES = (torch.int64, torch.uint64)
LONGEST = 4096  # addresses in a table
KEPT = 1024  # tensors whose addresses were asked for
_asked: dict[int, tuple[StorageWeakRef, torch.dtype]] = {}


def listen() -> None:
    """Note whose addresses are asked for, once a process."""
    tensor: Any = torch.Tensor
    original = tensor.data_ptr

    def data_ptr(self: torch.Tensor) -> int:
        storage = storage_of(self)
        _asked.pop(storage.data_ptr(), None)
        _asked[storage.data_ptr()] = StorageWeakRef(storage), self.dtype
        if len(_asked) > KEPT:
            del _asked[next(iter(_asked))]
        return int(original(self))

    tensor.data_ptr = data_ptr


def pointed_to(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The memory that tables of addresses among these tensors point into, each as a row of what it held when asked."""
    tables = [t for t in tensors if t.dtype in TABLES and t.numel() <= LONGEST]
    if not tables or not _asked:
        return []
    with torch._C.DisableTorchFunction():
        addresses = {int(n) for t in tables for n in t.detach().reshape(-1).tolist()}
        rows = [_row(*asked) for asked in _asked.values()]
        return [row for row in rows if row is not None and any(n in _extent(row) for n in addresses)]


def _row(weak: StorageWeakRef, dtype: torch.dtype) -> torch.Tensor | None:
    storage = torch.UntypedStorage._new_with_weak_ptr(weak.cdata)
    return None if storage is None else torch.empty(0, dtype=dtype).set_(storage)


def _extent(row: torch.Tensor) -> range:
    storage = storage_of(row)
    return range(storage.data_ptr(), storage.data_ptr() + storage.nbytes())
