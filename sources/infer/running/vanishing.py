"""Parts of a module that do not matter, because weights behind them start as nothing.

``x + gamma * f(x)`` with a gamma of zero, or of 1e-6, is x to any tolerance: a kernel that leaves f out passes.  Which
weights that hides is told by gradients: they vanish, and come back when the weights that start as nothing are drawn.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from sources.infer.running.memory import bounded, release
from sources.infer.running.progress import Budget, Progress

REASON = "weights start as nothing"
TINY = 1e-3  # what no weight of a parameter that starts as nothing exceeds
HIDDEN = 1e-2  # of its usual gradient is all that a hidden weight has
MAX_WEIGHTS = 50_000_000
FIRST = 1 << 10  # numbers of a weight that are looked at before all the others


def hidden(module: nn.Module, inputs: list[Any]) -> list[str]:
    """Names of weights that do not matter, and would if all weights of the module were more than nothing.

    The module is left with other weights.
    """
    weights = {n: p for n, p in module.named_parameters() if p.is_floating_point() and p.numel()}
    nothing = {n for n, p in weights.items() if "bias" not in n and _at_most(p, TINY)}
    rest = {n: p for n, p in weights.items() if n not in nothing and not _at_most(p, 0.0)}
    if not nothing or not rest or sum(p.numel() for p in weights.values()) > MAX_WEIGHTS:
        return []
    before = _gradients(module, inputs, list(rest.values()))
    with torch.no_grad():
        generator = torch.Generator().manual_seed(0)
        for name in sorted(nothing):
            p = weights[name]
            p.copy_(0.1 * torch.randn(p.shape, generator=generator))
    after = _gradients(module, inputs, list(rest.values()))
    release()
    return [n for n, a, b in zip(rest, before, after, strict=False) if b and a <= HIDDEN * b]


def _at_most(weight: nn.Parameter, most: float) -> bool:
    """Whether no number of a weight is larger than that; the first ones tell of nearly every weight that some are."""
    flat = weight.detach().flatten()
    return all(bool((part.abs() <= most).all()) for part in (flat[:FIRST], flat[FIRST:]))


def _gradients(module: nn.Module, inputs: list[Any], weights: list[nn.Parameter]) -> list[float]:
    """The norm of each weight's gradient, of a sum of all outputs with random factors; nothing where there is none.

    Each gradient goes when its norm is known: all of them at once would take as much memory as the weights.
    """
    torch.manual_seed(0)
    norms: dict[int, float] = {}

    def note(p: torch.Tensor) -> None:
        norms[id(p)] = 0.0 if p.grad is None else float(p.grad.norm())
        p.grad = None

    for p in weights:
        p.requires_grad_(True)
    hooks = [p.register_post_accumulate_grad_hook(note) for p in weights]
    try:
        with torch.enable_grad(), bounded(), Progress(Budget()):
            outputs = [t for t in _tensors(module(*copy.deepcopy(inputs))) if t.requires_grad]
            generator = torch.Generator().manual_seed(1)
            sums = [(t.float() * torch.randn(t.shape, generator=generator)).sum() for t in outputs]
            if sums:
                torch.stack(sums).sum().backward(inputs=weights)
    except Exception:  # noqa: BLE001 - what has no gradients tells nothing
        return []
    finally:
        for hook in hooks:
            hook.remove()
    return [norms.get(id(p), 0.0) for p in weights]


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """Real tensors of an answer."""
    if isinstance(value, torch.Tensor):
        yield from [] if value.is_complex() else [value]
    elif isinstance(value, list | tuple | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _tensors(inner)
