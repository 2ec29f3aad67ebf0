"""Initial weights that cost hardly more than their memory.

Random ones take most of the time of constructing large layers.  What a search learns needs weights that differ from
each other and leave the values that pass through them at their scale; which, does not matter.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from sources.infer.running.memory import full
from sources.infer.running.progress import TooMuchError
from sources.infer.running.repeated import FILLS, filled, repeat, repeats

_waiting: list[tuple[weakref.ref[torch.Tensor], Callable[..., Any], tuple[Any, ...]]] = []

DRAWN = 1 << 14  # different values; weights repeat them
LARGE = 1 << 22  # elements of a tensor that a search leaves as it is in memory
WEIGHED = 1 << 16  # elements of one before which it is looked at how much memory is left
HUGE = 1 << 24  # elements of a parameter that is filled when it is known to be kept


def cheapen(most: int = LARGE) -> None:
    """Replace the random initialisers of ``torch.nn.init``, in a fork that ends soon.

    Tensors of more than ``most`` elements are left as they are in memory.
    """
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randn(DRAWN, generator=generator)

    def fill(tensor: Any = None, *_: Any, **named: Any) -> Any:
        tensor = named.get("tensor", tensor)
        if isinstance(tensor, torch.Tensor) and tensor.is_floating_point() and tensor.numel() <= most:
            _weigh(tensor)
            with torch._C.DisableTorchFunction():  # it is not the module that asks for these
                _tile(tensor.detach(), drawn)
        return tensor

    exact = ("ones_", "zeros_", "constant_", "eye_", "dirac_")
    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_") and name not in exact:
            setattr(torch.nn.init, name, fill)


@contextmanager
def cheaply() -> Iterator[None]:
    """While active, initialisers are as after ``cheapen``, for calls whose values nobody looks at.

    But for the program itself, which is to go the same ways whenever it runs: no tensor is left as it is in memory.
    """
    own = {name: fill for name, fill in vars(torch.nn.init).items() if name.endswith("_")}
    cheapen(sys.maxsize)
    try:
        yield
    finally:
        vars(torch.nn.init).update(own)


def _weigh(tensor: torch.Tensor) -> None:
    """Raises where a tensor is to be filled, and its process is in memory with all that it may be."""
    if tensor.numel() > WEIGHED and full():
        raise TooMuchError("can't allocate memory for more weights")


def quicken() -> None:
    """Fill tensors with random numbers that repeat after ``REPEATED``, in a fork that ends soon.

    They are of the distribution that they would be of: drawing them is a good part of what a large network costs.
    Huge parameters wait for ``settle``.
    """
    for name in FILLS:
        setattr(torch.Tensor, name, _repeating(getattr(torch.Tensor, name)))
    torch.nn.init.trunc_normal_ = _repeating(torch.nn.init.trunc_normal_, of_leaves=True)


def _repeating(fill: Callable[..., Any], of_leaves: bool = False) -> Callable[..., Any]:
    """What fills a tensor with independent numbers, made to draw no more than ``REPEATED``.

    ``of_leaves``: it may be a parameter as it stands, as torch's own initialisers see to that.
    """

    def fill_or_wait(tensor: Any, *given: Any, **named: Any) -> Any:
        if tensor.numel() > HUGE and isinstance(tensor, torch.nn.Parameter) and not of_leaves:
            _waiting.append((weakref.ref(tensor), functools.partial(fill_at_once, **named), given))
            return tensor
        return fill_at_once(tensor, *given, **named)

    def fill_at_once(tensor: Any, *given: Any, **named: Any) -> Any:
        if not repeats(tensor, of_leaves):
            return fill(tensor, *given, **named)
        _weigh(tensor)
        return filled(fill, tensor, given, named)

    return fill_or_wait


def settle() -> None:
    """Fill what was left to be filled and is still there.

    A network that is made for its first layers only, as those that compare images are, never has its last ones.
    """
    while _waiting:
        tensor, fill, given = _waiting.pop(0)
        if (kept := tensor()) is not None:
            with torch.no_grad():
                fill(kept, *given)


def _tile(tensor: torch.Tensor, drawn: torch.Tensor) -> None:
    """Fill a tensor with the drawn values over and over, at the scale that keeps a layer's variance."""
    count = tensor.numel()
    if not count:
        return
    scale = (count // tensor.shape[0]) ** -0.5 if tensor.dim() > 1 else 0.1
    scaled = drawn[:count] * scale
    if tensor.is_contiguous():
        repeat(tensor.view(-1), scaled)
    else:
        tensor.copy_(scaled.repeat(count // len(drawn) + 1)[:count].view(tensor.shape))


def known(module: torch.nn.Module) -> bool:
    """Whether all weights of a module are more than what happened to be in memory."""
    return all(p.numel() <= LARGE for p in module.parameters())
