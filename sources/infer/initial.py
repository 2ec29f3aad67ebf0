"""Initial weights that cost hardly more than their memory.

Random ones take most of the time of constructing large layers.  What a search learns needs weights that differ from
each other and leave the values that pass through them at their scale; which, does not matter.
"""

from __future__ import annotations

from typing import Any

import torch

DRAWN = 1 << 14  # different values; weights repeat them
LARGE = 1 << 22  # elements of a tensor that is left as it is in memory


def cheapen() -> None:
    """Replace the random initialisers of ``torch.nn.init``, in a fork that ends soon."""
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randn(DRAWN, generator=generator)

    def fill(tensor: Any = None, *_: Any, **named: Any) -> Any:
        tensor = named.get("tensor", tensor)
        if isinstance(tensor, torch.Tensor) and tensor.is_floating_point() and tensor.numel() <= LARGE:
            with torch._C.DisableTorchFunction():  # it is not the module that asks for these
                _tile(tensor.detach(), drawn)
        return tensor

    exact = ("ones_", "zeros_", "constant_", "eye_", "dirac_")
    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_") and name not in exact:
            setattr(torch.nn.init, name, fill)


def _tile(tensor: torch.Tensor, drawn: torch.Tensor) -> None:
    """Fill a tensor with the drawn values over and over, at the scale that keeps a layer's variance."""
    count = tensor.numel()
    if not count:
        return
    inputs = count // tensor.shape[0] if tensor.dim() > 1 else 0
    scaled = drawn * (inputs**-0.5 if inputs else 0.1)
    whole = count // len(drawn)
    flat = tensor.view(-1) if tensor.is_contiguous() else None
    if flat is None:
        tensor.copy_(scaled.repeat(whole + 1)[:count].view(tensor.shape))
        return
    flat[: whole * len(drawn)].view(whole, len(drawn)).copy_(scaled.expand(whole, -1))
    flat[whole * len(drawn) :].copy_(scaled[: count - whole * len(drawn)])


def known(module: torch.nn.Module) -> bool:
    """Whether all weights of a module are more than what happened to be in memory."""
    return all(p.numel() <= LARGE for p in module.parameters())
