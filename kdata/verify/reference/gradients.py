"""Gradients of a module's answer: of the reference's and of the candidate's, by the same code. In children only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference.styles import EVALUATED, NoGradientError
from kdata.verify.reference.values import upcast

# Between the seeds of inputs and vectors: of one seed both hold the same numbers, along which norms have no gradient.
APART = 0x5DEECE66D
SCALE = 64.0  # of a loss: such vectors are beyond what they may be clipped to, and half precision still holds them
ROUNDING = 1e-5  # share of what a gradient usually is that one which vanishes may be


@dataclass(frozen=True, slots=True)
class Derived:
    """What a backward gives."""

    found: list[Tensor | None]  # of each floating input, then of each named parameter; None for what has none
    overwrites: bool  # it leaves other numbers in the vectors that it was given, or in the inputs
    answers: list[Tensor]  # the floating outputs of that call


def names(module: nn.Module) -> list[str]:
    """The trainable parameters."""
    return [name for name, p in module.named_parameters() if p.requires_grad and _floating(p)]


def gradients(
    module: nn.Module, inputs: Sequence[Any], seed: int, parameters: Sequence[str], way: str = "gradient"
) -> Derived:  # fmt: skip
    """Vector-Jacobian products: of each floating input, then of each named parameter; None for what needs none.

    The vectors are normal and follow from ``seed``; those of "turned" and "earlier" are as large as a scaled loss has
    them. ``way``:

    - "summed": each vector is of one number, expanded without memory, as that of a sum is; "turned": its last two
      dimensions are swapped in memory;
    - "frozen": no input requires a gradient, as those of a first layer; "sole": the last floating input alone requires
      one, as before layers that are not trained;
    - "leading", "trailing": of the first, or the last, of several outputs alone;
    - "earlier": the module is called with other inputs before the backward of the first call runs, as one that stands
      in two places is; "anew": its graph was gone through before, with other vectors;
    - "changed": the answer is overwritten before the backward runs, as operators in place do where torch lets them;
    - "evaluated": the module is put into evaluation mode before it is called, as it is for adversarial inputs, or to go
      on training with statistics that stay.

    Raises:
        NoGradientError: no floating output requires a gradient, or the way says nothing of this module.
        Exception: whatever the module raises.
    """
    if way == EVALUATED:
        _evaluate(module)
    held = tree_map(lambda t: t.detach().clone() if _floating(t) else t, list(inputs))
    sources = _sources(module, floating(held), parameters, way)
    with torch.enable_grad():
        outputs = [t for t in tree_leaves(module(*held)) if _floating(t)]
        later = _called_again(module, held) if way == "earlier" else None  # what it keeps for its own backward lives on
    if way == "changed":
        _overwrite(outputs)
    following = _chosen([(n, t) for n, t in enumerate(outputs) if t.requires_grad], way)
    asked = [t for t in sources if t is not None]
    if not following or not asked:
        raise NoGradientError("no output requires a gradient")
    drawn = VECTORS.get(way, vector)
    vectors = [drawn(t, seed + n) for n, t in following]
    left = [*vectors, *(t.detach() for t in floating(held))]
    before = [v.clone() for v in left]
    # torch.autograd.grad is a function to a TorchFunctionMode, without which its backward would then run
    engine: Any = torch.autograd.Variable._execution_engine
    ends, rest = tuple(t for _, t in following), {"allow_unreachable": True, "accumulate_grad": False}
    if way == "anew":
        engine.run_backward(ends, tuple(2 * v.flip(0) if v.ndim else 2 * v for v in vectors), True, False,
                            tuple(asked), **rest)  # fmt: skip
    given = iter(engine.run_backward(ends, tuple(vectors), False, False, tuple(asked), **rest))
    del later
    found = [None if t is None else next(given) for t in sources]
    own = [None if g is None else g.resolve_conj().clone(memory_format=torch.contiguous_format) for g in found]
    return Derived(own, not all(map(torch.equal, left, before)), [t.detach() for t in outputs])


def _evaluate(module: nn.Module) -> None:
    """Put a module that is being trained into evaluation mode."""
    if not module.training:
        raise NoGradientError("it is in evaluation mode as it is")
    module.eval()


def _sources(
    module: nn.Module, inputs: list[Tensor], parameters: Sequence[str], way: str
) -> list[Tensor | None]:  # fmt: skip
    """What gradients are asked of, None for what needs none: in this way, or because a module says so itself."""
    known = dict(module.named_parameters())
    if way == "sole":
        if len(inputs) + len(known) < 2:
            raise NoGradientError("there is nothing else")
        module.requires_grad_(False)
    left_out = {"frozen": len(inputs), "sole": len(inputs) - 1}.get(way, 0)
    needed = [t.requires_grad_() if n >= left_out else None for n, t in enumerate(inputs)]
    return [*needed, *(p if p is not None and p.requires_grad else None for p in map(known.get, parameters))]


def _chosen(following: list[tuple[int, Tensor]], way: str) -> list[tuple[int, Tensor]]:
    """The outputs that a backward begins at."""
    if way not in ("leading", "trailing"):
        return following
    if len(following) < 2:
        raise NoGradientError("there is one output")
    return following[:1] if way == "leading" else following[-1:]


def _overwrite(outputs: list[Tensor]) -> None:
    """Other numbers in an answer; what is kept of it for a backward may notice."""
    with torch.no_grad():
        for output in outputs:
            output.mul_(0.5).add_(1.0)


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
    return [n for n, g, u in pairs if not _size(g) <= ROUNDING * _size(u)]


def _size(gradient: Tensor) -> float:
    return float(upcast(gradient).norm().real)


def _floating(value: Any) -> TypeGuard[Tensor]:
    """Whether it is a tensor that may have a gradient, which of a complex one is the conjugate of the derivative."""
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())


def vector(output: Tensor, seed: int) -> Tensor:
    """What the gradients of an output begin at, as a rule; ``seed``: that of the first one, and how many are before."""
    generator = torch.Generator().manual_seed(seed ^ APART)
    with torch._C.DisableTorchFunction():  # where single precision is made double, these are to be the same numbers
        dtype = torch.complex64 if output.is_complex() else torch.float32
        drawn = torch.randn(output.shape, generator=generator, dtype=dtype)
    return drawn.to(output.dtype).to(output.device)


def _expanded(output: Tensor, seed: int) -> Tensor:
    return vector(output.new_empty(()), seed).expand(output.shape)


def _turned_in_memory(output: Tensor, seed: int) -> Tensor:
    if output.ndim < 2:
        raise NoGradientError("it has one dimension")
    return SCALE * vector(output, seed).mT.contiguous().mT


def _scaled(output: Tensor, seed: int) -> Tensor:
    return SCALE * vector(output, seed)


VECTORS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "summed": _expanded,
    "turned": _turned_in_memory,
    "earlier": _scaled,
}
