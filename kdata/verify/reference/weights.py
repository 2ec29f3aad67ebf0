"""New parameters for a reference, so that nothing a candidate learnt about the old ones helps it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn

from kdata.verify.reference.values import finite, same

RUNNING = ("running_mean", "running_var")
COUNT, MOST = "num_batches_tracked", 8  # of BatchNorm: how many batches were seen, of which its mean may be that
SMALL, TENTH = 1e-2, 0.1
MEAN = 1e-2  # by how much weights of a mean may miss one in all: those of half precision do


def as_first_made(module: nn.Module, types: dict[str, torch.dtype]) -> None:
    """Give weights the ``types`` that they had when such a module was first made, and note these.

    A layer that is a parameter's default, ``act=nn.PReLU()``, is one and the same in all modules: what makes one of
    them double makes it so in the others.
    """
    for name, tensor in module.state_dict(keep_vars=True).items():
        if isinstance(tensor, Tensor) and tensor.dtype != (first := types.setdefault(name, tensor.dtype)):
            tensor.data = tensor.data.to(first)


def redraw(module: nn.Module, generator: torch.Generator) -> None:
    """Draw the trainable parameters and the running statistics anew, keeping each one's range and sign.

    Values that differ are shuffled and scaled by 0.8 to 1.2; constant ones are scaled by 0.5 to 1.5, small
    ones (of a branch that is to count for little at first) after they have been made a tenth; zeros become normal with
    deviation 0.1.  Some batches have been seen.  Other buffers and frozen parameters are structure (masks, windows,
    tables, filters that take a mean): they stay, but for such as are one number throughout and loaded with a module
    (weights of classes, corrections of scores), which stand for what is not known yet, and leave unseen which of them
    is used, if any.
    """
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.requires_grad and parameter.is_floating_point():
                parameter.copy_(_like(parameter, generator))
        for name, buffer in module.named_buffers():
            if name.rpartition(".")[2] in RUNNING and buffer.is_floating_point():
                buffer.copy_(_like(buffer, generator))
            if name.rpartition(".")[2] == COUNT and buffer.numel() == 1:
                buffer.fill_(int(torch.randint(0, MOST, (), generator=generator)))
        for kept in module.state_dict().values():  # which shares memory with the module
            if isinstance(kept, Tensor) and _uniform(kept):
                kept.copy_(_like(kept, generator))


def without_signs(
    module: nn.Module, state: dict[str, Any], answer: Callable[[dict[str, Any]], Any]
) -> dict[str, Any]:  # fmt: skip
    """A state whose buffers are not below zero, where only then the answer is finite: second moments, say.

    Running means may be below zero in every layer that has them.

    Raises:
        Exception: whatever the reference raises with the state as it is.
    """
    buffers = {n for n, b in module.named_buffers() if b.is_floating_point() and n.rpartition(".")[2] not in RUNNING}
    buffers = {name for name in buffers & state.keys() if bool((state[name] < 0).any())}
    if not buffers or finite(answer(state)):
        return state
    other = {name: value.abs() if name in buffers else value for name, value in state.items()}
    return other if finite(answer(other)) else state


def partly(before: dict[str, Any], state: dict[str, Any], turn: int) -> dict[str, Any]:
    """A state of which every other part is what it was ``before``, from the ``turn`` of the seed that it was drawn by.

    Statistics are measured anew, and gains are trained, where other weights stay: what is made of several of them may
    not be kept for as long as one of them is the same.  The first turn has a state of its own.
    """
    like = before.keys() == state.keys() and all(before[name].shape == value.shape for name, value in state.items())
    if not turn or not like:
        return state
    return {name: before[name] if n % 2 == turn % 2 else value for n, (name, value) in enumerate(state.items())}


def after_calls(
    count: int, module: nn.Module, state: dict[str, Any], call: Callable[[dict[str, Any]], nn.Module]
) -> dict[str, Any]:  # fmt: skip
    """The state after some calls: what counts calls, or goes on from them, does other things there than at first.

    Where all of it is trained a call leaves nothing behind.
    """
    last = deque(islice(_states(module, state, call), count), maxlen=1)
    return last[0] if last else state


def after_many_calls(
    count: int, module: nn.Module, state: dict[str, Any], call: Callable[[dict[str, Any]], nn.Module]
) -> dict[str, Any]:  # fmt: skip
    """The state before the first call, of so many at most, that does what none before it did; else after all of them.

    Each n-th call takes a copy, and a place in a ring is the first one again: another part of the state changes, or a
    number that grew becomes less. And what counts calls up to a limit is beyond it after many.
    """
    before, usual = state, None
    for after in islice(_states(module, state, call), count):
        changes = _changes(before, after)
        if usual is not None and changes != usual:
            return before
        before, usual = after, changes
    return before


def _states(
    module: nn.Module, state: dict[str, Any], call: Callable[[dict[str, Any]], nn.Module]
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """What each call leaves behind, as long as it is something else."""
    trained = {name for name, parameter in module.named_parameters() if parameter.requires_grad}
    while not state.keys() <= trained:
        try:
            after = {name: value.detach().clone() for name, value in call(state).state_dict().items()}
        except Exception:  # noqa: BLE001 - its own draws do not fit every time: that shows where it is judged
            return
        if after.keys() != state.keys() or not finite(after) or same(after, state):
            return
        state = after
        yield state


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, bool]]:
    """Which parts of a state a call changed, and which of these are a count that became more."""
    changed = [name for name, value in after.items() if not same(value, before[name])]
    return [(name, counts(after[name]) and bool(after[name] > before[name])) for name in changed]


def counts(value: Any) -> bool:
    """Whether it is one whole number, as a count of calls is."""
    return isinstance(value, Tensor) and value.numel() == 1 and float(value) == round(float(value))


def _uniform(tensor: Tensor) -> bool:
    """Whether these are several numbers, all of them finite and the same, and no filter that takes a mean."""
    if not (tensor.is_floating_point() and tensor.numel() > 1):
        return False
    first = float(tensor.flatten()[0])
    if not (math.isfinite(first) and bool((tensor == first).all())):
        return False
    summed = [first * math.prod(tensor.shape[dim:]) for dim in range(tensor.ndim) if tensor.shape[dim] > 1]
    return all(not math.isclose(one, 1.0, rel_tol=MEAN) for one in summed)


def _like(tensor: Tensor, generator: torch.Generator) -> Tensor:
    flat = tensor.detach().reshape(-1)
    if flat.numel() == 0:
        return tensor
    noise = torch.rand(flat.shape, generator=generator, dtype=torch.float32)
    if bool((flat == flat[0]).all()):
        if float(flat[0]) == 0.0:
            drawn = 0.1 * torch.randn(flat.shape, generator=generator, dtype=torch.float32)
        else:
            small = abs(float(flat[0])) < SMALL
            drawn = (torch.sign(flat) * TENTH if small else flat) * (0.5 + noise)
    else:
        drawn = flat[torch.randperm(flat.numel(), generator=generator)] * (0.8 + 0.4 * noise)
    return drawn.to(tensor.dtype).reshape(tensor.shape)
