"""A candidate's module before it is called: built, given weights, a mode and inputs. In the host's child.

Only what a module's parameters hold when it is called counts, not what it was told while they were loaded: training
changes them in place. And a mode that was left and taken up again is the mode that it was.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from kdata.verify.candidate.enclosure import CANDIDATE
from kdata.verify.exchange.guards import guarded, storage_of
from kdata.verify.exchange.telling import line
from kdata.verify.exchange.wire import Reader, raw
from kdata.verify.reference.gradients import gradients

# What the allocators of torch's devices, the driver and cuBLAS say where there is no more.
OUT_OF_MEMORY = ("allocate memory", "CUDA out of memory", "CUDA error: out of memory", "[CUDA]: out of memory",
                 "STATUS_ALLOC_FAILED")  # fmt: skip

# Methods by which a class says how it is copied.
COPYING = frozenset("__deepcopy__ __reduce__ __reduce_ex__ __getstate__ __setstate__ __getnewargs__".split())


class StopTrialError(Exception):
    """A trial ended early: its outcome and the reason."""

    def __init__(self, outcome: str, detail: str) -> None:
        super().__init__(outcome, detail)
        self.outcome, self.detail = outcome, detail


def outcome(error: BaseException) -> str:
    """How a trial ends with an error: "memory" where there was too little of it, otherwise "raises"."""
    short = isinstance(error, MemoryError) or any(words in str(error) for words in OUT_OF_MEMORY)
    return "memory" if short else "raises"


def build(module: ModuleType, reader: Reader, given: dict[str, Any]) -> Any:
    """The candidate's module, constructed.

    Raises:
        StopTrialError: it cannot be.
    """
    torch.manual_seed(0)
    model = getattr(module, "ModelNew", None)
    if not (isinstance(model, type) and issubclass(model, torch.nn.Module)):
        raise StopTrialError("no ModelNew", "ModelNew is no nn.Module class")
    positional, keyword = _arguments(reader, given)
    try:
        return model(*positional, **keyword)
    except TypeError as error:
        raise StopTrialError("constructor", line(error)) from error
    except Exception as error:
        raise StopTrialError("raises", f"in the constructor: {line(error)}") from error


def _arguments(reader: Reader, given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The constructor's arguments; made by the task's own text where they are no plain data (modules, functions)."""
    if "args" in given:
        return reader.read(given["args"]), reader.read(given["kwargs"])
    space: dict[str, Any] = {"__name__": "task"}
    exec(compile(given["text"], "<task>", "exec", dont_inherit=True), space)  # noqa: S102 - the sandbox is around us
    made = space[given["function"]]()
    if len(made) == 2 and isinstance(made[0], list) and isinstance(made[1], dict):
        return made[0], made[1]
    return list(made), {}


def duplicate(model: nn.Module) -> nn.Module:
    """A deep copy, as averages of weights are kept in; the module itself where it holds what cannot be copied.

    Raises:
        StopTrialError: it says itself how it is copied, and that is no copy.
    """
    try:
        with _Cloned():
            copied = copy.deepcopy(model)
    except Exception as error:
        if any(_says_how(module) for module in model.modules()):
            raise StopTrialError("raises", f"as it is copied: {line(error)}") from error
        return model
    shared = {m for m in _memory(model) if m} & {*_memory(copied)}
    if copied is model or shared:
        raise StopTrialError("structure", "a deep copy of it has no weights of its own")
    return copied


def _says_how(module: nn.Module) -> bool:
    """Whether a class of the candidate's defines how its instances are copied."""
    own = (kind for kind in type(module).__mro__ if kind.__module__ == CANDIDATE)
    return any(name in COPYING for kind in own for name in vars(kind))


def _memory(model: nn.Module) -> list[int]:
    """Where the weights and buffers of a module lie."""
    return [storage_of(t).data_ptr() for t in (*model.parameters(), *model.buffers())]


class _Cloned(TorchFunctionMode):
    """Copies tensors by an operator, which makes the memory that kernels may touch; those that share it go on so."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function is not Tensor.__deepcopy__ or not args[0].is_leaf or args[0].layout is not torch.strided:
            return function(*args, **(kwargs or {}))
        tensor, memo = args
        if id(tensor) not in memo:
            storage = storage_of(tensor)
            shared = ("memory", storage.data_ptr(), tensor.dtype)
            if shared not in memo:
                memo[shared] = torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(storage).clone()
            copied = memo[shared].as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
            memo[id(tensor)] = copied.requires_grad_(tensor.requires_grad)
        return memo[id(tensor)]


def others(state: Mapping[str, Any]) -> dict[str, Any]:
    """Weights of the same kind that are not these."""
    return {name: _other(value) for name, value in state.items()}


def weigh(model: nn.Module, state: Mapping[str, Any], before: Mapping[str, Any], trained: bool = False) -> None:
    """Load the weights that were ``before`` into a module, then write its own over them as an optimizer does.

    What holds its own already is left alone, for who looks whether weights were changed would find that they were,
    and so is a part of them that does between two calls.
    ``trained``: nothing is loaded where they can be written without, as between two steps of an optimizer; their
    versions say so.

    Raises:
        StopTrialError: they are not its own.
    """
    try:
        own = model.state_dict(keep_vars=True)
        if _holds(own, state):
            return
        written = trained and _like(own, state)
        if not written:
            model.load_state_dict(before, strict=True)
            own = model.state_dict(keep_vars=True)
        with torch.no_grad():
            for name, value in state.items():
                if isinstance(value, Tensor) and not (written and raw(own[name]) == raw(value)):
                    (own[name] if written else own[name].data).copy_(value)
    except Exception as error:
        raise StopTrialError("state", line(error)) from error


def _holds(own: Mapping[str, Any], state: Mapping[str, Any]) -> bool:
    """Whether weights are these, bit by bit, however they lie."""
    return _like(own, state) and all(raw(one) == raw(state[name]) for name, one in own.items())


def _like(own: Mapping[str, Any], state: Mapping[str, Any]) -> bool:
    """Whether weights are tensors, and of the same shapes and types as these."""
    return own.keys() == state.keys() and all(
        isinstance(one, Tensor)
        and isinstance(state[name], Tensor)
        and (one.shape, one.dtype) == (state[name].shape, state[name].dtype)
        for name, one in own.items()
    )


def set_mode(model: nn.Module, mode: str, turned: bool) -> None:
    """Put a module into evaluation mode, or leave it as it was made; ``turned``: by way of the other one.

    Weights change with no mode between calls, in training, and where others are loaded to be evaluated: not every call
    may be ``turned``.
    """
    if mode == "eval":
        if turned:
            model.train()
        if any(module.training for module in model.modules()):
            model.eval()
    elif turned and all(module.training for module in model.modules()):  # what was frozen when made stays so
        model.eval()
        model.train()


def _other(value: Any) -> Any:
    """Values of the same kind that are no weights of this draw."""
    if not isinstance(value, Tensor):
        return value
    return value.flip(0).neg() if value.ndim and value.is_floating_point() else value.clone()


def rehome(model: nn.Module, device: str) -> None:
    """Move parameters and buffers between guard bars too, before a text is asked for them, which may keep it."""
    for tensor in {id(t): t for t in _held(model, set())}.values():
        strides = tensor.stride() if tensor.is_contiguous() else None
        moved = guarded(tensor.shape, strides, tensor.dtype, device)
        tensor.data = moved.copy_(tensor.data)


def _held(module: nn.Module, seen: set[int]) -> Iterator[Tensor]:
    """The parameters and buffers of a module, found without calling it: what a text overrides does not run."""
    seen.add(id(module))
    parts = vars(module)
    yield from (t for t in (*parts["_parameters"].values(), *parts["_buffers"].values()) if isinstance(t, Tensor))
    for child in parts["_modules"].values():
        if isinstance(child, nn.Module) and id(child) not in seen:
            yield from _held(child, seen)


def want_gradients(inputs: Any) -> None:
    """Mark inputs as training does."""
    for tensor in torch.utils._pytree.tree_leaves(inputs):
        if isinstance(tensor, torch.Tensor) and (tensor.is_floating_point() or tensor.is_complex()):
            tensor.requires_grad_()


def refill(old: Any, new: Any) -> Any:
    """The old tensors with the new values, in a way that changes neither address nor version; new where they differ."""
    before, form = torch.utils._pytree.tree_flatten(old)
    now, other = torch.utils._pytree.tree_flatten(new)
    if form != other:
        return new
    for position, (kept, fresh) in enumerate(zip(before, now, strict=True)):
        if isinstance(kept, torch.Tensor) and isinstance(fresh, torch.Tensor) and _alike(kept, fresh):
            kept.data.copy_(fresh)
            now[position] = kept
    return torch.utils._pytree.tree_unflatten(now, form)


def _alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    return (one.shape, one.dtype, one.stride(), type(one)) == (other.shape, other.dtype, other.stride(), type(other))


def derive(model: Any, wanted: dict[str, Any], told: dict[str, Any], *inputs: Any) -> list[Any]:
    """The gradients that are asked for, None for those that the candidate does not offer; ``answers`` after them.

    ``told``: takes down whether its backward writes into what it is given, and whether it has gradients of what the
    reference has none of, which detaches it, say.
    """
    derived = gradients(model, inputs, wanted["seed"], wanted["parameters"], wanted["way"])
    told["overwrites"] = derived.overwrites
    others = [derived.found[n] for n in wanted.get("none", ())]
    told["more"] = any(g is not None and bool((g != 0).any()) for g in others)
    answers = derived.answers if wanted.get("answers") else []
    return [*(derived.found[n] for n in wanted["used"]), *answers]
