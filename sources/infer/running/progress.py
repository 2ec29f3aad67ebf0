"""How far a call of a module came, and what it cost: counted in work, never in time."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from sources.infer.running.memory import full
from sources.infer.running.repeated import FILLS, MAKES, filled, made, repeats

MAX_FUNCTIONS = 12_000  # torch functions of one call: more is a large network or a long loop
CONSTRUCTING = 4  # times as many of a constructor: loops that fill a table are quick
WEIGHED = 1 << 22  # elements of results after which it is looked at how much memory is left
MADE = 2  # times as many elements
MAX_ELEMENTS = 1 << 28  # of all results of one call
MAX_FLOPS = 2e10  # of one call: no task may have more, see ``sources.infer.running.check``
BUDGET = 10_000  # of one search: five torch functions cost 1, and 1 for every 2^17 elements of its result, 2^23 FLOPs
# or 2^16 elements of random inputs
FUNCTION = 0.2
ELEMENTS_OF_ONE, FLOPS_OF_ONE, DRAWN_OF_ONE = 1 << 17, 1 << 23, 1 << 16
# What a light call may cost for each operator that its task may have.
LIGHT_ELEMENTS, LIGHT_FLOPS = 1 << 19, 1 << 26
LIGHT_OPERATORS = 24  # that count so where inputs are lightened: whole networks do with what their blocks do with
DROPPED = 1 << 16  # elements from which on a rough call drops none
LONG = 4  # times as many torch functions as a task may have operators are no task
_SPREAD = frozenset(["expand", "expand_as", "broadcast_to", "broadcast_tensors"])  # views of more than there is
_SHARES = frozenset(["softmax", "log_softmax", "softmin"])  # whose answers for one number are the same for all
RECURRENT = frozenset(["lstm", "gru", "rnn_tanh", "rnn_relu"])
# Torch functions that surely run no operator that computes.
_QUIET = re.compile(
    r"_|view|reshape|permute|transpose|expand|detach|select|squeeze|unsqueeze|split|chunk|unbind|clone|empty|zeros|ones"
    r"|full|arange|contiguous|flatten|unflatten|narrow|diagonal|movedim|swapaxes|tensor_split|float|type|new_|(t|to)$"
)


# Torch's own, that of its oneDNN, and ours.
NO_MEMORY = re.compile("can't allocate memory|could not create a primitive|MiB in memory")


class TooMuchError(Exception):
    """A call of more torch functions, or on larger tensors, than it may have."""


def out_of_memory(error: BaseException) -> bool:
    """Whether an error, torch's or Python's, is that there is no more memory."""
    return isinstance(error, MemoryError) or NO_MEMORY.search(str(error)) is not None


class TooLongError(Exception):
    """A call of more operators than a task may have, whatever its inputs."""


@dataclass(slots=True)
class Budget:
    """What a search may still spend. Counted in work, not in time, so that a result does not depend on the machine."""

    left: float = BUDGET


class Progress(TorchFunctionMode):
    """Counts the torch functions of a call and keeps the last."""

    def __init__(
        self, budget: Budget, operators: int | None = None, light: bool = False, roughly: bool = False,
        functions: int = MAX_FUNCTIONS,
    ) -> None:  # fmt: skip
        """A task may have so many ``operators``; a ``light`` call is one on no more than its inputs need hold.

        ``roughly``: nothing is dropped from large tensors, which costs as much as a convolution.  It may be of so many
        torch ``functions``.

        While active, raises ``TooMuchError`` and ``TooLongError``.
        """
        super().__init__()
        self.budget = budget
        self.count = self.computing = self.elements = 0
        self.flops = 0.0
        self._unweighed = 0
        self.lone = False  # whether a number had a softmax to itself, which tells nothing of it
        self.drew = True  # whether the call drew random numbers, as far as it is known
        self.last: tuple[str, tuple[Any, ...]] = ("", ())
        self.given: list[int] = []  # where the values of each tensor among the inputs lie in memory, 0: nowhere
        self.constructs = False  # weights are filled: that few numbers are drawn for large ones does not matter
        self._roughly, self._functions = roughly, functions
        self._most = math.inf if operators is None else LONG * operators
        each = operators if light and operators else math.inf
        self._elements, self._flops = min(MAX_ELEMENTS, each * LIGHT_ELEMENTS), min(MAX_FLOPS, each * LIGHT_FLOPS)

    @property
    def work(self) -> float:
        """What the call took out of the budget."""
        return self.count + self.elements / ELEMENTS_OF_ONE + self.flops / FLOPS_OF_ONE

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        self.count += 1
        if self.computing > self._most:
            raise TooLongError(f"more than {self._most} torch functions")
        if self.count > self._functions or self.elements > self._elements or self.flops > self._flops:
            raise TooMuchError(f"{self.count} torch functions, {self.elements} elements, {self.flops:.1e} FLOPs")
        name = getattr(function, "__name__", "")
        self.last = (name, args)
        with torch._C.DisableTorchFunction():  # of modes around this one, which each size that is read would pass
            flops = _flops(name, args, kwargs)  # one of these calls may take minutes
        if flops > MAX_FLOPS or name in RECURRENT and self.flops + flops > self._flops:
            raise TooMuchError(f"{name} of {flops:.1e} FLOPs")
        if self._roughly and name == "dropout" and isinstance(args[0], torch.Tensor) and args[0].numel() > DROPPED:
            result = args[0].clone()
        elif self.constructs and name in FILLS and args and repeats(args[0]):
            result = filled(function, args[0], args[1:], kwargs)
        elif self.constructs and name in MAKES and (new := _called(made, (function, args, kwargs), {})) is not None:
            result = new
        else:
            result = _called(function, args, kwargs)
        self.budget.left -= FUNCTION
        first = result[0] if name in RECURRENT and isinstance(result, tuple) else result
        if type(first) is torch.Tensor:
            with torch._C.DisableTorchFunction():
                self._weigh(name, first)
                self._spent(name, first, flops)
                self.lone = self.lone or name in _SHARES and _is_alone(first, args, kwargs)
        return result

    def _weigh(self, name: str, result: torch.Tensor) -> None:
        """Many small results, such as copies of a layer's weights, fill memory as a large one does."""
        self._unweighed += result.numel()
        if self._unweighed > WEIGHED:
            self._unweighed = 0
            if full():
                raise TooMuchError(f"can't allocate memory beside {name}")

    def _spent(self, name: str, result: torch.Tensor, flops: float) -> None:
        self.computing += not _QUIET.match(name)
        self.elements += result.numel()
        self.flops += flops
        made = result.numel() if name not in _SPREAD else 0  # it was no work, whatever will be done with it
        self.budget.left -= made / ELEMENTS_OF_ONE + flops / FLOPS_OF_ONE


def _is_alone(shares: torch.Tensor, args: Any, kwargs: Mapping[str, Any]) -> bool:
    """Whether what shares are taken along is one long."""
    dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
    return isinstance(dim, int) and -shares.dim() <= dim < shares.dim() and shares.shape[dim] == 1


def constructing(budget: Budget) -> Progress:
    """Of a call of a constructor. Weights are made and filled, and may go again: of some networks parts are taken."""
    progress = Progress(budget, functions=CONSTRUCTING * MAX_FUNCTIONS)
    progress._elements, progress.constructs = MADE * MAX_ELEMENTS, True
    return progress


def _called(function: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
    """A torch function's result.

    Raises:
        TooMuchError: there is no memory for it.
    """
    try:
        return function(*args, **kwargs)
    except (MemoryError, RuntimeError) as error:
        if out_of_memory(error):
            raise TooMuchError(f"{type(error).__name__}: {error}".splitlines()[0]) from error
        raise


def _flops(name: str, args: Any, kwargs: Mapping[str, Any]) -> float:
    """An estimate, from the arguments, for the functions that multiply matrices or convolve; 0 for the others."""
    if name == "einsum":
        return _einsum(args)
    if len(args) < 2 or not isinstance(args[0], torch.Tensor):
        return 0.0
    x: torch.Tensor = args[0]
    weight: Any = args[1]
    if name in RECURRENT:
        weights = next((a for a in args[2:4] if isinstance(a, list | tuple)), ())
        rows = float(x.numel()) / max(1, x.shape[-1])
        return 2.0 * rows * float(sum(w.numel() for w in weights))
    if not isinstance(weight, torch.Tensor):
        return 0.0
    if name.startswith("conv") and weight.dim() == x.dim() > 2:
        return _convolution(name, x, weight, kwargs.get("stride", args[3] if len(args) > 3 else 1))
    if name == "linear" and weight.dim():
        return 2.0 * float(x.numel()) * float(weight.shape[0])
    if name in ("matmul", "__matmul__", "bmm", "mm") and x.dim() and weight.dim():
        rows, columns = (float(t.shape[d]) if t.dim() > 1 else 1.0 for t, d in ((x, -2), (weight, -1)))
        return 2.0 * float(max(x.numel() * columns, weight.numel() * rows))  # one of them may be repeated for the other
    return 0.0


def _convolution(name: str, x: torch.Tensor, weight: torch.Tensor, stride: Any) -> float:
    """Of a convolution, or a transposed one, as if its borders were padded."""
    each = 2.0 * float(x.numel()) * float(math.prod(weight.shape[2:]))
    if "transpose" in name:
        return each * float(weight.shape[1])
    steps = math.prod(stride) if isinstance(stride, tuple | list) else stride ** (x.dim() - 2)
    share = float(weight.shape[1]) / float(max(1, x.shape[1]))  # of the channels, for each output of a group
    return each * float(weight.shape[0]) * share / max(1, steps)


def _einsum(args: Any) -> float:
    """Each distinct subscript is a loop."""
    tensors = args[1] if len(args) == 2 and isinstance(args[1], list | tuple) else args[1:]
    if not args or not isinstance(args[0], str) or not all(isinstance(t, torch.Tensor) for t in tensors):
        return 0.0
    sizes: dict[str, int] = {}
    for term, tensor in zip(args[0].split("->")[0].replace(" ", "").split(","), tensors, strict=False):
        if len(term) == tensor.dim():
            sizes |= dict(zip(term, tensor.shape, strict=True))
    return 2.0 * float(math.prod(sizes.values()))
