"""Elements of inputs that a mask leaves out of the answer: they may be anything. In the reference's child only.

A reference that says ``masked_fill`` or ``where`` says what the answer is whatever stands there; a kernel that
multiplies by the mask instead makes NaN of the infinities that attention's masks are full of. Those are below zero: a
kernel that adds such a mask, as attention's are mostly written, would make NaN of infinities above it, and need not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from kdata.verify.reference.values import computes

SELECTS = frozenset({"where", "masked_fill", "masked_fill_", "tril", "triu"})  # names in ATen
SHARE = 0.25  # of such elements that are changed
FAR = 1e4  # which no softmax's maximum is to be taken of
CHANGES: tuple[Callable[[Tensor], Tensor], ...] = (
    lambda t: torch.where(t > 0, FAR, -math.inf).to(t.dtype),
    lambda t: torch.full_like(t, -math.inf),
    lambda t: torch.full_like(t, math.inf),
)  # what stands there instead, what is tried first standing first
Forward = Callable[[list[Any]], Any]


def infinite(inputs: list[Any], forward: Forward, generator: torch.Generator) -> list[Any] | None:
    """The inputs with infinities where the answer stays what it is, to the bit; None where there is no such place.

    ``forward``: the reference, which may be derived; it may raise.
    """
    leaves, form = tree_flatten(inputs)
    usual = _answer(forward, inputs)
    gradients = _gradients(forward, inputs)
    changed = [*leaves]
    for place, gradient in gradients.items():
        chosen = (gradient == 0) & (leaves[place] != 0)
        chosen &= torch.rand(chosen.shape, generator=generator) < SHARE
        for change in CHANGES if bool(chosen.any()) else ():
            held = torch.where(chosen, change(leaves[place]), leaves[place])
            tried = [*changed[:place], held, *changed[place + 1 :]]
            if _same(usual, _answer(forward, tree_unflatten(tried, form))):
                changed = tried
                break
    if all(a is b for a, b in zip(changed, leaves, strict=True)):
        return None
    found: list[Any] = tree_unflatten(changed, form)
    return found


def _answer(forward: Forward, inputs: list[Any]) -> list[Any]:
    with torch.no_grad():
        return list(tree_leaves(forward(inputs)))


def _gradients(forward: Forward, inputs: list[Any]) -> dict[int, Tensor]:
    """Of the sum of all floating outputs, by the place of each floating input that it follows from."""
    leaves, form = tree_flatten(inputs)
    places = [n for n, t in enumerate(leaves) if computes(t)]
    held = [t.detach().clone() if isinstance(t, Tensor) else t for t in leaves]
    with torch.enable_grad():
        for place in places:
            held[place].requires_grad_()
        made = tree_leaves(forward(tree_unflatten(held, form)))
        floats = [t for t in made if isinstance(t, Tensor) and t.requires_grad]
        if not floats:
            return {}
        total = torch.stack([(t * torch.linspace(1, 2, t.numel()).view(t.shape)).sum() for t in floats]).sum()
        found = torch.autograd.grad(total, [held[p] for p in places], allow_unused=True)
    return {place: gradient for place, gradient in zip(places, found, strict=True) if gradient is not None}


def _same(usual: list[Any], new: list[Any]) -> bool:
    pairs = [(a, b) for a, b in zip(usual, new, strict=True) if isinstance(a, Tensor)]
    return all(a.shape == b.shape and torch.equal(a, b) for a, b in pairs)
