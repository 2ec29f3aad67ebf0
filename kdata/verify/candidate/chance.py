"""Python's ``random`` for candidates: fused dropout may name it, and no answer may hang on it. In children only."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, ClassVar

DRAWN = frozenset("random randint randrange getrandbits uniform seed".split())


class Chance:
    """The module, or what it has: that can be named, and is refused when it is called."""

    __slots__ = ("_name",)
    _name: str
    refuse: ClassVar[Callable[[str], Any]]  # the enclosure's
    drawing: ClassVar[bool] = False  # whether numbers may be drawn: where training is looked at

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    def __repr__(self) -> str:
        return f"<{self._name}>"

    def __getattr__(self, name: str) -> Chance:
        """One of its functions.

        Raises:
            AttributeError: the real module does not have it either.
        """
        if name.startswith("_") or self._name != random.__name__ or not hasattr(random, name):
            raise AttributeError(name)
        return Chance(f"{self._name}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Nothing is kept."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        """No number, unless it is ``drawing``.

        Raises:
            ForbiddenError: elsewhere.
        """
        name = self._name.rpartition(".")[2]
        if Chance.drawing and name in DRAWN:
            return getattr(random, name)(*args, **named)
        return Chance.refuse(self._name)


CHANCE = Chance(random.__name__)
