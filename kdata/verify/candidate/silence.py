"""Python's ``logging`` for candidates: loggers that keep nothing, say nothing, and lead nowhere. In children only."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from kdata.verify.candidate.subset import LEVELS, LOGGED


class Logger:
    """A logger, or the module: what is asked of either in practice."""

    __slots__ = ("_name",)
    refuse: ClassVar[Callable[[str], Any]]  # the enclosure's

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    def getLogger(self, name: str = "root") -> Logger:
        """The same one for the same name."""
        return _named(str(name))

    def __repr__(self) -> str:
        return f"<Logger {self._name} (WARNING)>"

    def __getattr__(self, name: str) -> Any:
        """A level; what else the real ones have would show that nobody logs.

        Raises:
            ForbiddenError: it is of that kind.
            AttributeError: the real ones do not have it either.
        """
        if name in LEVELS:
            return LEVELS[name]
        if name == "Logger":  # in annotations
            return Logger
        if not any(hasattr(real, name) for real in (logging, logging.root)):
            raise AttributeError(name)
        return Logger.refuse(f"logging: {name}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Nothing is kept."""


def _silent(name: str) -> Callable[..., None]:
    def say(self: Logger, *_args: Any, **_more: Any) -> None:
        """Nothing."""

    say.__name__, say.__qualname__ = name, f"Logger.{name}"
    return say


for _name in LOGGED - {"getLogger"}:
    setattr(Logger, _name, _silent(_name))
_named = cache(Logger)
LOGGING = Logger("logging")
