"""What a search tries next: the cheapest first, each once, at the least cost that was ever said of it."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")
_TAKEN = -math.inf


class Agenda(Generic[T]):
    """A queue of what is known by keys; of equal cost what came first comes first."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Hashable, T]] = []
        self._costs: dict[Hashable, float] = {}
        self._order = itertools.count()

    def __bool__(self) -> bool:
        """Whether anything is left."""
        return any(cost != _TAKEN for cost in self._costs.values())

    def push(self, cost: float, key: Hashable, item: T) -> bool:
        """Whether it was neither taken before nor is there at so little a cost; from now on it is at this one."""
        if cost >= self._costs.get(key, math.inf):
            return False
        self._costs[key] = cost
        heapq.heappush(self._heap, (cost, next(self._order), key, item))
        return True

    def pop(self) -> tuple[float, T]:
        """The cheapest that is left, and its cost.

        Raises:
            IndexError: nothing is.
        """
        while True:
            cost, _, key, item = heapq.heappop(self._heap)
            if cost == self._costs[key]:  # else it was taken, or got cheaper
                self._costs[key] = _TAKEN
                return cost, item

    def left(self) -> list[T]:
        """All that is left, the cheapest first."""
        return [item for cost, _, key, item in sorted(self._heap) if cost == self._costs[key]]
