"""Where the memory of short calls lies: elsewhere in each sample. In children only.

A page of a GPU's memory is near some multiprocessors and far from others.  A kernel of one program runs on one of them,
the same each time, and what it reads and writes lies in a page or two, the same as long as its process lives: on an
H200 such kernels take 1.06 or 1.17 us, or 1.62 to 1.88 with weights, by process.  So inputs, outputs and weights of
calls that need little lie in other pages in every sample; those of larger calls lie in many pages as they are.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import cycle
from typing import Any, TypeVar

import torch
from torch import nn
from torch.cuda import MemPool, use_mem_pool

T = TypeVar("T")
REGIONS = 127  # each has pages of its own; odd, so that inputs and outputs, which take turns, get to all
COPIES = 31  # of each weight
SMALL = 1 << 20  # bytes that a call needs, and of a weight: torch's allocator gives such from pages of 2 MiB
MOST_WEIGHTS = 8 << 20  # bytes; a call that reads more is not short
# Kept before any candidate is imported.
_Pool, _within, _clone = MemPool, use_mem_pool, torch.Tensor.clone
_allocated, _peak, _reset = (
    torch.cuda.memory_allocated, torch.cuda.max_memory_allocated, torch.cuda.reset_peak_memory_stats,
)  # fmt: skip


class Placement:
    """Takes regions of the device's memory in turn, in an order of chance: each as often as any other."""

    def __init__(self) -> None:
        self._pools: list[MemPool] = []
        self._turns: dict[str, Iterator[MemPool]] = {}
        self._weights: dict[str, list[tuple[torch.Tensor, Iterator[torch.Tensor]]]] = {}
        self._random = random.Random(0)

    def learn(self, what: str, call: Callable[..., Any], needed: int) -> None:
        """Begin to move a program that needs so many bytes for a call, if these are few."""
        if needed > SMALL or what in self._turns:
            return
        self._pools = self._pools or [_Pool() for _ in range(REGIONS)]
        found = movable(call) if isinstance(call, nn.Module) else []
        self._turns[what] = self._shuffled(self._pools)
        self._weights[what] = [(weight, self._shuffled(list(self._copies(weight.data)))) for weight in found]

    def every(self, what: str) -> Iterator[AbstractContextManager[None]]:
        """All regions, one after the other, of a program that is moved."""
        return map(_within, self._pools if what in self._turns else [])

    def region(self, what: str) -> AbstractContextManager[None]:
        """In which new memory lies somewhere else, where the program needs little."""
        return _within(next(self._turns[what])) if what in self._turns else nullcontext()

    def move(self, what: str) -> None:
        """Give the program's weights other places. Nothing is freed: a candidate may know where they were."""
        for weight, copies in self._weights.get(what, []):
            weight.data = next(copies)

    def _shuffled(self, things: list[T]) -> Iterator[T]:
        return cycle(self._random.sample(things, len(things)))

    def _copies(self, values: torch.Tensor) -> Iterator[torch.Tensor]:
        yield values
        for pool in self._random.sample(self._pools, COPIES - 1):
            with _within(pool):
                yield _clone(values)


@contextmanager
def needed(inputs: list[torch.Tensor]) -> Iterator[Callable[[], int]]:
    """How many bytes these inputs and a call within take on the device, once it is over."""
    _reset()
    before = _allocated()
    yield lambda: _peak() - before + sum(t.untyped_storage().nbytes() for t in inputs)


def movable(module: nn.Module) -> list[torch.Tensor]:
    """Small weights that share their memory with no other; none where they are many."""
    every = [*module.parameters(), *module.buffers()]
    holders = Counter(t.untyped_storage().data_ptr() for t in every)
    own = [t for t in every if t.is_contiguous() and t.untyped_storage().nbytes() == t.nbytes <= SMALL
           and holders[t.untyped_storage().data_ptr()] == 1]  # fmt: skip
    return own if sum(t.nbytes for t in own) <= MOST_WEIGHTS else []
