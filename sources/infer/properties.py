"""The errors of modules' properties: torch says of one that fails that there is none of its name."""

from __future__ import annotations

import inspect
from typing import Any

from torch import nn


def reveal() -> None:
    """From now on a property of a module that lacks an attribute says which: a search learns what it is to give."""
    look_up = nn.Module.__getattr__

    def revealing(self: nn.Module, name: str) -> Any:
        try:
            return look_up(self, name)
        except AttributeError:
            found = inspect.getattr_static(type(self), name, None)
            if isinstance(found, property) and found.fget is not None:
                found.fget(self)
            raise

    nn.Module.__getattr__ = revealing  # type: ignore[method-assign]
