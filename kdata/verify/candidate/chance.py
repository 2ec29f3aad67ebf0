"""Python's ``random`` for candidates: fused dropout may name it, and no answer may hang on it. In children only."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, ClassVar


class Chance:
    """The module, or what it has: that can be named, and is refused when it is called."""

    __slots__ = ("_name",)
    _name: str
    refuse: ClassVar[Callable[[str], Any]]  # the enclosure's

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

    def __call__(self, *_args: Any, **_named: Any) -> Any:
        """No number.

        Raises:
            ForbiddenError: always.
        """
        return Chance.refuse(self._name)


CHANCE = Chance(random.__name__)
