"""States of recurrent modules, as a method of the module makes the first: ``init_hidden(batch_size)``."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import nn

from sources.infer.inputs import BATCH, TOKENS, Many, Spec, Tensor
from sources.infer.running.memory import bounded
from sources.text.states import MAKES, STATE

MAX_MADE = 2  # ways in which one module makes states


def initial(module: nn.Module, name: str) -> list[Spec]:
    """What a module's own methods make for an input that is called like a state: for a batch, or for as many as steps.

    Of sequences that are laid down time first the steps are taken for the batch where inputs are guessed.
    """
    if not STATE.fullmatch(name.lower()):
        return []
    makers = [n for n in dir(type(module)) if MAKES.fullmatch(n) and inspect.isfunction(getattr(type(module), n))]
    found = (_made(getattr(module, n), batch) for batch in (BATCH, TOKENS) for n in makers[:MAX_MADE])
    return [spec for spec in found if spec is not None]


def _made(method: Any, batch: int) -> Spec | None:
    """How to draw what a method makes for a batch; None where it takes more than the batch's size, or fails."""
    needed = [p for p in inspect.signature(method).parameters.values() if p.default is p.empty]
    if len(needed) > 1 or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in needed):
        return None
    try:
        with torch.no_grad(), bounded():
            return _like(method(*[batch] * len(needed)))
    except Exception:  # noqa: BLE001 - it is the program's own, and no state is known then
        return None


def _like(value: Any) -> Spec | None:
    if isinstance(value, torch.Tensor):
        return Tensor(tuple(value.shape)) if value.is_floating_point() else None
    if not isinstance(value, list | tuple) or not value:
        return None
    items = [spec for inner in value if (spec := _like(inner)) is not None]
    return Many(tuple(items), "list" if isinstance(value, list) else "tuple") if len(items) == len(value) else None
