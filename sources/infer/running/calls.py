"""One call of a module on drawn inputs."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from sources.infer.inputs import Specs, draw, elements
from sources.infer.running.check import leaves
from sources.infer.running.memory import bounded
from sources.infer.running.progress import Budget, Progress, TooMuchError

MAX_DRAWN = 1 << 24  # elements of the inputs of one call


def call(
    module: nn.Module, specs: Specs, budget: Budget, operators: int | None = None, light: bool = False
) -> tuple[Progress, Any, Exception | None]:
    """One call of forward on drawn inputs: how far it came, the result or the error; see ``Progress``."""
    torch.manual_seed(0)
    progress = Progress(budget, operators, light, roughly=True)
    if (drawn := elements(specs)) > MAX_DRAWN:
        return progress, None, TooMuchError(f"inputs of {drawn} elements")
    arguments = [draw(spec, roughly=True) for spec in specs]
    progress.given = [t.untyped_storage().data_ptr() for t in leaves(arguments)]
    before, held = torch.default_generator.get_state(), _held(module)
    try:
        with torch.no_grad(), bounded(), progress:
            result = module(*arguments)
        progress.drew = not torch.equal(before, torch.default_generator.get_state())
        return progress, result, None
    except Exception as error:  # noqa: BLE001 - any error of the module is what the search learns from
        for attributes, name in held:
            attributes[name] = None
        return progress, None, error


def _held(module: nn.Module) -> list[tuple[dict[str, Any], str]]:
    """Attributes that are None: what a failed call keeps there, for steps that follow, is not to be met by the next."""
    every = (vars(m) for m in module.modules())
    return [(attributes, name) for attributes in every for name, value in attributes.items() if value is None]


def forget(error: BaseException | None) -> None:
    """Let go of the frames of an error that has told all it can.

    Whoever called what failed is behind these frames, and holds the error: all tensors of the call would stay until
    garbage is collected, call after call.
    """
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


def has_tensor(value: Any) -> bool:
    """Whether there is a non-empty tensor in a tensor, list, tuple, dict, record or distribution."""
    return any(t.numel() > 0 for t in leaves(value))
