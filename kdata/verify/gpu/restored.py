"""What a forward changes of its module's state (an optimizer's step, running means), put back before each call.

At a task's own sizes the reference and the candidate are called unequally often, each in its process: where an answer
follows from the state, both have to start from the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import torch
from torch import Tensor, nn


class Restored:
    """Parameters and buffers as they were; calling it puts them back."""

    def __init__(self, module: nn.Module, names: Collection[str] = ()) -> None:
        self._module = module
        self._kept = {name: t.detach().clone() for name, t in _state(module).items() if name in names}

    @staticmethod
    def after(module: nn.Module, call: Callable[[], Any]) -> tuple[Any, Restored]:
        """What a call answers, and the state from before it of which it changed anything."""
        found = Restored(module, _state(module).keys())
        answer, now = call(), _state(module)
        found._kept = {name: was for name, was in found._kept.items() if not _same(now.get(name), was)}
        found()
        return answer, found

    @property
    def names(self) -> list[str]:
        """What changes."""
        return sorted(self._kept)

    def __call__(self) -> None:
        """Put it back."""
        now = _state(self._module)
        with torch.no_grad():
            for name, was in self._kept.items():
                if (t := now.get(name)) is not None and t.shape == was.shape:
                    t.copy_(was)  # where it lies: a graph of calls may know the place
                else:  # a forward may have put another tensor in its place
                    path, _, leaf = name.rpartition(".")
                    setattr(self._module.get_submodule(path), leaf, was.clone())


def _state(module: nn.Module) -> dict[str, Tensor]:
    return dict(module.named_parameters()) | dict(module.named_buffers())


def _same(one: Tensor | None, other: Tensor) -> bool:
    return one is not None and one.shape == other.shape and torch.equal(one.detach(), other)
