"""A call without data: what fails for its shapes fails on torch's ``meta`` device, too, at hardly any cost.

Searches of large modules have so few calls that these are not to be spent on shapes that do not fit.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

import torch
import torch.fx.experimental.symbolic_shapes  # before any fork: without data, torch would import it in each
from torch import nn

from sources.infer.inputs import Specs, draw
from sources.infer.running.progress import Budget, Progress
from sources.infer.running.shapes import Shapes
from sources.text.on_cpu import OnOne

_META = torch.device("meta")
# Errors of programs that look at values, or mix devices: they tell nothing about shapes.
_OF_META = re.compile(r"(?i)\bmeta\b|device|fake|data.?dependent|numpy|item\(\)|storage|NotImplemented")
_REDUCTION = re.compile(r"same reduction dim, but got \[(\d+), (\d+)\] X \[(\d+), (\d+)\]")
_BROADCAST = re.compile(
    r"had torch\.Size\(\[([\d, ]*)\]\); but expected shape should be broadcastable to \[([\d, ]*)\]"
)
_JOINED = re.compile(r"Expected (\d+) in dimension \d+ but got (\d+)")
_NORMALIZED = re.compile(r"expected input with shape \[([\d, ]+)\], but got input of size torch\.Size\(\[([\d, ]+)\]\)")


class Rehearsal:
    """A module's shadow: its shapes without its values."""

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._shadow: nn.Module | None = None
        self._fails = False

    def call(self, specs: Specs, operators: int | None, light: bool) -> tuple[Progress, Exception] | None:
        """How a call fails, and how far it came; None where it does not, or where this cannot be told."""
        progress = Progress(Budget(), operators, light)
        if self._fails:
            return None
        try:
            if self._shadow is None:
                self._shadow = shadow(self._module)
            with _META, OnOne(_META), Shapes(), torch.no_grad():
                inputs = [draw(spec) for spec in specs]
                with progress:
                    self._shadow(*inputs)
        except Exception as error:  # noqa: BLE001 - any error of the module is what the search learns from
            # What cannot be copied is no failure of the call.
            if self._shadow is None or isinstance(error, NotImplementedError) or _OF_META.search(str(error)):
                self._fails = True
                return None
            return progress, _as_usual(error, *progress.last)
        return None


def _as_usual(error: Exception, function: str, arguments: tuple[Any, ...]) -> Exception:
    """The error of the last function as other devices word it: rules, and the sizes that it tells, go by its words."""
    message = str(error)
    if match := _REDUCTION.search(message):
        rows, inner, other, columns = match.groups()
        return RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {other}x{columns})")
    if match := _BROADCAST.search(message):
        return RuntimeError(_apart(*([int(n) for n in text.split(",") if n.strip()] for text in match.groups())))
    if match := _JOINED.search(message):
        return RuntimeError(message.replace(match[0], f"Expected size {match[1]} but got size {match[2]}"))
    if match := _NORMALIZED.search(message):
        return RuntimeError(f"expected input with shape [*, {match[1]}], but got input of size[{match[2]}]")
    convolution = re.fullmatch(r"conv(_transpose)?\dd", function)
    if convolution and "channel dimensions" in message and len(arguments) > 1:
        x, weight = arguments[:2]
        groups = arguments[6] if len(arguments) > 6 and isinstance(arguments[6], int) else 1
        wanted = weight.shape[0] if convolution[1] else weight.shape[1] * groups
        return RuntimeError(
            f"Given groups={groups}, weight of size {[*weight.shape]}, expected input{[*x.shape]} to have {wanted} "
            f"channels, but got {x.shape[1] if x.dim() > 1 else 1} channels instead"
        )
    return error


def _apart(other: list[int], first: list[int]) -> str:
    """How two shapes that should be alike are not: at the last dimension in which they differ."""
    rank = max(len(first), len(other))
    one, two = ([1] * (rank - len(shape)) + shape for shape in (first, other))
    at = next((i for i in reversed(range(rank)) if one[i] != two[i] and 1 not in (one[i], two[i])), rank - 1)
    return (
        f"The size of tensor a ({one[at]}) must match the size of tensor b ({two[at]}) at non-singleton dimension {at}"
    )


def shadow(module: nn.Module) -> nn.Module:
    """A copy of a module whose parameters and buffers have no values."""
    known: dict[int, torch.Tensor] = {}
    for p in module.parameters():
        known[id(p)] = nn.Parameter(p.detach().to(_META), requires_grad=False)
    for b in module.buffers():
        known[id(b)] = b.detach().to(_META)
    try:
        return copy.deepcopy(module, dict(known))
    except TypeError:  # of a lock of a layer's: both have the same
        shared = {id(v): v for part in module.modules() for v in vars(part).values() if not _copies(v, known)}
        return copy.deepcopy(module, shared | known)


def _copies(value: Any, known: Mapping[int, torch.Tensor]) -> bool:
    """Whether one of a module's attributes can be copied; those that hold parts of it are copied with these."""
    if isinstance(value, torch.Tensor | nn.Module | dict | list | tuple):
        return True
    try:
        copy.deepcopy(value, dict(known))
    except TypeError:
        return False
    return True
