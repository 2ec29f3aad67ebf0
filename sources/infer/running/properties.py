"""The errors of modules' properties: torch says of one that fails that there is none of its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from torch import nn


def reveal() -> None:
    """From now on a property of a module that lacks an attribute says which: a search learns what it is to give."""
    look_up = nn.Module.__getattr__

    def revealing(self: nn.Module, name: str) -> Any:
        try:
            return look_up(self, name)
        except AttributeError:
            if getter := _getter(type(self), name):  # type: ignore[arg-type]  # a class is hashable
                getter(self)
            raise

    nn.Module.__getattr__ = revealing  # type: ignore[method-assign]


@cache  # searches ask all parts of a module for what few of them have
def _getter(kind: type[nn.Module], name: str) -> Callable[[Any], Any] | None:
    found = inspect.getattr_static(kind, name, None)
    return found.fget if isinstance(found, property) else None
