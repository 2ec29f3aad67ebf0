"""What a candidate's module is set to before it is called: weights and mode. In the host's child.

Only what a module's parameters hold when it is called counts, not what it was told while they were loaded: training
changes them in place. And a mode that was left and taken up again is the mode that it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from kdata.verify.loading import line


class StateError(Exception):
    """The module does not take these weights."""


def others(state: Mapping[str, Any]) -> dict[str, Any]:
    """Weights of the same kind that are not these."""
    return {name: _other(value) for name, value in state.items()}


def weigh(model: nn.Module, state: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Load the weights that were ``before`` into a module, then write its own over them as an optimizer does.

    Raises:
        StateError: they are not its own.
    """
    try:
        model.load_state_dict(before, strict=True)
        own = model.state_dict(keep_vars=True)
        with torch.no_grad():
            for name, value in state.items():
                if isinstance(value, Tensor):
                    own[name].data.copy_(value)
    except Exception as error:
        raise StateError(line(error)) from error


def set_mode(model: nn.Module, mode: str, turned: bool) -> None:
    """Put a module into evaluation mode, or leave it as it was made; ``turned``: by way of the other one."""
    if mode == "eval":
        if turned:
            model.train()
        model.eval()
    elif turned and all(module.training for module in model.modules()):  # what was frozen when made stays so
        model.eval()
        model.train()


def _other(value: Any) -> Any:
    """Values of the same kind that are no weights of this draw."""
    if not isinstance(value, Tensor):
        return value
    return value.flip(0).neg() if value.ndim and value.is_floating_point() else value.clone()
