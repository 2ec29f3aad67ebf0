"""One call of a module on drawn inputs."""

from __future__ import annotations

import traceback
from typing import Any

import torch
from torch import nn

from sources.infer.inputs import Specs, draw, elements
from sources.infer.running.check import leaves
from sources.infer.running.memory import bounded
from sources.infer.running.progress import Budget, Progress, TooMuchError

LATEST = 1 << 30  # no line of a program
MAX_DRAWN = 1 << 24  # elements of the inputs of one call


def call(
    module: nn.Module, specs: Specs, budget: Budget, operators: int | None = None, light: bool = False, seed: int = 0
) -> tuple[Progress, Any, Exception | None]:
    """One call of forward on drawn inputs: how far it came, the result or the error; see ``Progress``."""
    torch.manual_seed(seed)
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
        for attributes, name, value in held:
            attributes[name] = value
        return progress, None, error


def _held(module: nn.Module) -> list[tuple[dict[str, Any], str, bool | int | None]]:
    """Attributes that are None, flags and counts, with their values.

    What a failed call keeps there, for steps that follow, is not to be met by the next: a codebook that a first call
    fills from its input is marked as filled, and is to be that whole or not at all.
    """
    every = (vars(m) for m in module.modules())
    return [(attributes, name, value) for attributes in every for name, value in attributes.items()
            if value is None or type(value) in (bool, int)]  # fmt: skip


def way(error: BaseException, file: str) -> tuple[int, ...]:
    """The lines of a program's ``file`` on the way to an error, outermost first: of two, the later one is greater.

    What Python cannot do in a line comes after what fails in what that line calls: it has the answer, most often.  What
    torch cannot do there comes before.
    """
    frames = [(f.f_code.co_filename, n) for f, n in traceback.walk_tb(error.__traceback__)]
    last = (LATEST,) if frames and frames[-1][0] == file and not isinstance(error, RuntimeError) else ()
    return *(n for where, n in frames if where == file), *last


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
