"""Gradients of a module's answer: of the reference's and of the candidate's, by the same code. In children only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

ROUNDING = 1e-5  # share of what a gradient usually is that one which vanishes may be


class NoGradientError(Exception):
    """The answer does not follow from its inputs in a way that torch can differentiate."""


@dataclass(frozen=True, slots=True)
class Derived:
    """What a backward gives."""

    found: list[Tensor | None]  # of each floating input, then of each named parameter; None for what has none
    overwrites: bool  # it leaves other numbers in the vectors that it was given, or in the inputs


def names(module: nn.Module) -> list[str]:
    """The trainable parameters."""
    return [name for name, p in module.named_parameters() if p.requires_grad and p.is_floating_point()]


def gradients(
    module: nn.Module, inputs: Sequence[Any], seed: int, parameters: Sequence[str], way: str = "gradient"
) -> Derived:  # fmt: skip
    """Vector-Jacobian products: of each floating input, then of each named parameter.

    The vectors are normal and follow from ``seed``. ``way``: "summed": each is of one number, expanded without memory,
    as that of a sum is; "frozen": no input requires a gradient, as those of a first layer; "earlier": the module is
    called with other inputs before the backward of the first call runs, as one that stands in two places is.

    Raises:
        NoGradientError: no floating output requires a gradient.
        Exception: whatever the module raises.
    """
    wanted = way != "frozen"
    held = tree_map(lambda t: t.detach().clone().requires_grad_(wanted) if _floating(t) else t, list(inputs))
    known = dict(module.named_parameters())
    sources = (floating(held) if wanted else []) + [known[name] for name in parameters]
    with torch.enable_grad():
        outputs = [t for t in tree_leaves(module(*held)) if _floating(t)]
        later = _called_again(module, held) if way == "earlier" else None  # what it keeps for its own backward lives on
    following = [(n, t) for n, t in enumerate(outputs) if t.requires_grad]
    if not following or not sources:
        raise NoGradientError("no output requires a gradient")
    drawn = VECTORS.get(way, _vector)
    vectors = [drawn(t, seed + n) for n, t in following]
    left = [*vectors, *(t.detach() for t in floating(held))]
    before = [v.clone() for v in left]
    # torch.autograd.grad is a function to a TorchFunctionMode, without which its backward would then run
    engine: Any = torch.autograd.Variable._execution_engine
    found = engine.run_backward(
        tuple(t for _, t in following), tuple(vectors), False, False, tuple(sources), allow_unreachable=True,
        accumulate_grad=False,
    )  # fmt: skip
    del later
    own = [g if g is None else g.clone(memory_format=torch.contiguous_format) for g in found]  # two may be one tensor
    return Derived(own, not all(map(torch.equal, left, before)))


def _called_again(module: nn.Module, held: list[Any]) -> Any:
    """What a module answers to the floating inputs turned round; its buffers stay what they were before."""
    buffers = [(name, b.detach().clone()) for name, b in module.named_buffers()]
    answer = module(*tree_map(lambda t: _turned(t) if _floating(t) else t, held))
    now = dict(module.named_buffers())
    for name, value in buffers:
        if name in now and now[name].shape == value.shape:
            now[name].data.copy_(value)  # as ``data``, for what is kept for a backward may not seem changed
    return answer


def _turned(tensor: Tensor) -> Tensor:
    """The elements in reverse: other ones in each place, of the same range."""
    other = tensor.detach().clone()
    return other.copy_(tensor.detach().flip(tuple(range(tensor.ndim)))).requires_grad_(tensor.requires_grad)


def floating(inputs: Sequence[Any]) -> list[Tensor]:
    """The inputs of which gradients are asked, unless they are frozen."""
    return [t for t in tree_leaves(list(inputs)) if _floating(t)]


def beyond_rounding(found: list[Tensor | None], usual: list[Tensor | None]) -> list[int]:
    """Which gradients are there and more than what rounding leaves of the usual ones."""
    pairs = [(n, g, u) for n, (g, u) in enumerate(zip(found, usual, strict=True)) if g is not None and u is not None]
    return [n for n, g, u in pairs if not float(g.double().norm()) <= ROUNDING * float(u.double().norm())]


def _floating(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def _vector(output: Tensor, seed: int) -> Tensor:
    drawn = torch.randn(output.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float32)
    return drawn.to(output.dtype).to(output.device)


def _expanded(output: Tensor, seed: int) -> Tensor:
    return _vector(output.new_empty(()), seed).expand(output.shape)


VECTORS: dict[str, Callable[[Tensor, int], Tensor]] = {"summed": _expanded}
