"""Large tensors filled with few random numbers over and over: drawing each is a good part of what a network costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

REPEATED = 65_521  # random numbers of one tensor where these repeat: a prime, so that rows of weights differ
FILLS = ("normal_", "uniform_")  # methods of a tensor
MAKES = ("randn", "rand", "zeros")  # functions of torch
PLAIN = frozenset({torch.float16, torch.float32, torch.float64, torch.int32, torch.int64, torch.bool})  # in numpy, too
_MADE_OF = frozenset(["dtype", "requires_grad"])  # what else these may be told here


def repeat(flat: torch.Tensor, drawn: torch.Tensor) -> None:
    """Fill a tensor of one dimension with some values over and over."""
    whole = len(flat) // len(drawn)
    flat[: whole * len(drawn)].view(whole, len(drawn)).copy_(drawn.expand(whole, -1))
    flat[whole * len(drawn) :].copy_(drawn[: len(flat) - whole * len(drawn)])


def repeats(tensor: Any, of_leaves: bool = False) -> bool:
    """Whether a tensor is to be filled so: it is large, and filling it is no error.

    ``of_leaves``: it may be a parameter as it stands, as torch's own initialisers see to that.
    """
    if not isinstance(tensor, torch.Tensor) or tensor.numel() <= 2 * REPEATED:
        return False
    fails = not of_leaves and tensor.requires_grad and torch.is_grad_enabled()
    return tensor.device.type == "cpu" and tensor.is_contiguous() and not fails


def filled(fill: Callable[..., Any], tensor: torch.Tensor, given: Any, named: Mapping[str, Any]) -> torch.Tensor:
    """The tensor, with numbers that ``fill``, one of torch's initialisers, draws for a smaller one."""
    repeat(tensor.detach().view(-1), fill(tensor.detach().new_empty(REPEATED), *given, **named))
    return tensor


def made(make: Callable[..., torch.Tensor], sizes: Any, named: Mapping[str, Any]) -> torch.Tensor | None:
    """A large tensor of numbers that ``make``, a function of torch, draws for a smaller one; None where it is none.

    Zeros are pages that the system has not given yet: caches of a model take none until they are written.
    """
    sizes = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], list | tuple) else sizes
    if not _MADE_OF.issuperset(named) or any(type(n) is not int or n < 0 for n in sizes):
        return None
    if math.prod(sizes) <= 2 * REPEATED:
        return None
    drawn = make(REPEATED, dtype=named.get("dtype"))
    if make is torch.zeros and drawn.dtype in PLAIN:
        tensor = torch.from_numpy(np.zeros(tuple(sizes), drawn.numpy().dtype))
    else:
        tensor = drawn.new_empty(tuple(sizes))
        repeat(tensor.view(-1), drawn)
    return tensor.requires_grad_(named.get("requires_grad", False))
