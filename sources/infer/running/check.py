"""Does a task hold what it promises? Runs the emitted text in a fresh process, as a stranger would."""

from __future__ import annotations

import copy
import dataclasses
import math
import random
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.distributions import Distribution, Independent, TransformedDistribution
from torch.utils._python_dispatch import TorchDispatchMode

from kdata.task import Program, execute
from sources.infer import graph_object
from sources.infer.running.initial import settle
from sources.infer.running.memory import bounded, release
from sources.infer.running.reshaped import READS_SHAPE, READS_VALUES, same, shape_matters
from sources.infer.running.vanishing import REASON as NOTHING
from sources.infer.running.vanishing import hidden

MODULE = "task"  # that a cut is executed as
TOO_LARGE, COMPUTES_NOTHING = "too large", "computes nothing"
IGNORES = "output ignores an input"
MAX_OPERATORS = 60  # unless asked for more
MAX_PARAMETERS = 75_000_000
MAX_ELEMENTS = 1 << 27  # of all results of one forward together
MAX_FLOPS = 2e10  # about a second on one core
SEEDS = (0, 1)
THROWS = 16  # runs of what draws from Python's generator, or numpy's
DEAR_ELEMENTS, DEAR_FLOPS = 1 << 21, 1 << 28  # of one forward that is not to be run more often than need be
# Operators that move no data, or only make or copy it.
_FREE = ("view", "reshape", "permute", "transpose", "expand", "detach", "alias", "select", "slice", "squeeze",
         "t.default", "as_strided", "split", "chunk", "unbind", "clone", "_to_copy", "empty", "zeros", "ones", "full",
         "arange", "scalar_tensor", "lift_fresh", "copy_", "_unsafe_view", "narrow", "diagonal")  # fmt: skip


class UnfitError(Exception):
    """A task that is not worth keeping; ``reason`` is the group."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(detail)
        self.reason = reason


class Work(TorchDispatchMode):
    """Counts the operators that compute, and estimates their cost."""

    def __init__(self, most: int = MAX_OPERATORS, share: float = 1.0) -> None:
        """``most`` operators may compute, on ``share`` of the elements and FLOPs that a task may have."""
        super().__init__()
        self.most, self.share = most, share
        self.operators = 0
        self.shuffles = 0  # copies that lay values down in another order
        self.elements = 0
        self.flops = 0.0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        name = str(function).removeprefix("aten.")
        if not name.startswith(_FREE):
            self.operators += 1
            self.elements += sum(t.numel() for t in leaves(out))
            self.flops += _flops(name, args, out)
        elif name.startswith("clone"):
            self.shuffles += _turned(args[0])
        if self.elements > self.share * MAX_ELEMENTS or self.flops > self.share * MAX_FLOPS:
            raise UnfitError(TOO_LARGE, f"{self.flops:.1e} FLOPs, {self.elements} elements")
        if self.operators > self.most:
            raise UnfitError("too many operators", f"more than {self.most}")
        return out


def _turned(tensor: Any) -> bool:
    """Whether the dimensions of a tensor lie in another order than its values, as after a transposition."""
    strides = [stride for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1 and stride]
    return strides != sorted(strides, reverse=True)


def dear(work: Work) -> bool:
    """Whether a forward takes so long that others, on smaller inputs, are to tell what they can."""
    return work.elements > DEAR_ELEMENTS or work.flops > DEAR_FLOPS


def _flops(name: str, args: Any, out: Any) -> float:
    if name.startswith("convolution") and len(args) > 1:
        each = args[0] if len(args) > 6 and args[6] else out  # a transposed one spreads its input
        return 2.0 * float(each.numel()) * float(math.prod(args[1].shape[1:]))
    if name.startswith(("mm", "bmm", "addmm", "baddbmm")):
        matrices = [a for a in args if isinstance(a, torch.Tensor) and a.dim() >= 2]
        return 2.0 * float(out.numel()) * float(matrices[-1].shape[-2] if matrices else 1)
    return 0.0


def check(
    source: str, entry_point: str, operators: int = MAX_OPERATORS, small: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """Run the task's promises, with at most so many operators that compute; returns its input spec as plain JSON.

    A task that is dear to run does so once at its own sizes; what takes several runs is seen at the ``small`` ones. It
    is rejected for what was seen at its own sizes only.

    Raises:
        UnfitError: with the reason.
    """
    program, module, inputs = _built(source, entry_point)
    work = Work(operators)
    first = _run(module, inputs, work=work)
    if work.operators == 0 and not work.shuffles:
        raise UnfitError(COMPUTES_NOTHING)
    if not all_finite(first):
        raise UnfitError("not finite")
    mode, reads = "", list[str]()
    if small and dear(work) and not _constant(first):
        release()
        kept = [module]
        del module  # two at once are not to be in memory
        mode, reads = _mode_when_small(source, entry_point, small, program, kept)
        if not mode:
            kept.clear()
            program, module, inputs = _built(source, entry_point)
            first = _run(module, inputs)
    if not mode:
        mode, before, reads = _mode(module, inputs, first)
        del module
        _outputs_fit([before, _outputs(program, entry_point, SEEDS[1], mode)])
    described = [_described(i) | {"reads": read} for i, read in zip(leaves(inputs), reads, strict=True)]
    return {"mode": mode, "operators": max(work.operators, 1), "inputs": described}


def _built(source: str, entry_point: str, small: Mapping[str, int] | None = None) -> tuple[Program, Any, list[Any]]:
    """A task that was executed, at ``small`` sizes if given, its module and its inputs."""
    torch.manual_seed(SEEDS[0])
    program = execute(source, entry_point, values=small)
    return program, _constructed(program), program.inputs()


def _constructed(program: Program, entry_point: str | None = None) -> Any:
    module = program.build(entry_point)
    if sum(p.numel() for p in module.parameters()) > MAX_PARAMETERS:
        raise UnfitError(TOO_LARGE, "parameters")  # before what waits is filled
    settle()
    return module


def _mode_when_small(
    source: str, entry_point: str, small: Mapping[str, int], program: Program, kept: list[Any]
) -> tuple[str, list[str]]:
    """The mode in which the task holds all that takes several runs, with smaller sizes, "" where it does not.

    And what is read of each input.  ``kept`` holds the module of its own sizes, of ``program``: it is the smaller one,
    too, where only inputs are smaller, and goes before another is constructed.

    Raises:
        UnfitError: weights start as nothing, at its own sizes, too.
    """
    try:
        smaller = execute(source, entry_point, values=small)
        module = kept.pop()
        if not _same_arguments(program, smaller):
            del module
            smaller, module, _ = _built(source, entry_point, small)
        torch.manual_seed(SEEDS[0])
        inputs = smaller.inputs()
        mode, before, reads = _mode(module, inputs, _run(module, inputs))
        del module
        _outputs_fit([before, _outputs(smaller, entry_point, SEEDS[1], mode)])
        return mode, reads
    except UnfitError as error:
        if error.reason == NOTHING:  # its weights start so at any size
            raise
        return "", []
    except Exception:  # noqa: BLE001 - its own sizes tell what is wrong, if anything is
        return "", []


def _same_arguments(one: Program, other: Program) -> bool:
    """Whether two programs construct their modules alike, as far as plain values tell."""
    first, second = one.arguments(), other.arguments()
    return _plain(first) and _plain(second) and first == second


def _plain(value: Any) -> bool:
    """Whether a value is made of numbers, texts and nothing that could change."""
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    if isinstance(value, dict):
        return all(map(_plain, value.values()))
    return value is None or isinstance(value, str | int | float)


def _mode(module: Any, inputs: list[Any], first: list[torch.Tensor]) -> tuple[str, list[torch.Tensor], list[str]]:
    """The mode in which a module is deterministic, its outputs in it, and what is read of each input.

    ``first`` are its outputs as it was constructed.

    Raises:
        UnfitError: there is none, or it does not answer otherwise when its inputs or weights are others.
    """
    mode, before = _deterministic(module, inputs, first)
    reads = _depends(module, inputs, before)
    if names := hidden(module, inputs):
        raise UnfitError(NOTHING, f"without them {names[0]} and {len(names) - 1} others do not matter")
    return mode, before, reads


def leaves(value: Any) -> Iterator[torch.Tensor]:
    """All tensors in nested lists, tuples, dicts, records and distributions."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Distribution):
        yield from tensors_of(value).values()
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif made_of := graph_object.given(value):
        yield from leaves([*made_of])
    else:
        for inner in fields_of(value).values():
            yield from leaves(inner)


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a record: one of settings, a dataclass's instance, or one of a plain class that a task defines.

    Those of other things, and ones that hold a record of the same class, are none: {}. Settings may hold settings.
    """
    kind = type(value)
    own = kind.__module__ == MODULE and kind.__bases__ == (object,)
    if not (own or isinstance(value, SimpleNamespace) or dataclasses.is_dataclass(kind)) or isinstance(
        value, nn.Module
    ):
        return {}
    return {name: inner for name, inner in getattr(value, "__dict__", {}).items()
            if type(inner) is not kind or kind is SimpleNamespace}  # fmt: skip


def tensors_of(value: Distribution) -> dict[str, torch.Tensor]:
    """What a distribution was made of, by the names of attributes; one that a task defines says that by what it holds.

    Of the latter the distributions that it holds count where it holds no tensors.
    """
    if isinstance(value, Independent | TransformedDistribution):
        return {f"base_dist.{name}": tensor for name, tensor in tensors_of(value.base_dist).items()}
    own = type(value).__module__ == MODULE
    made = vars(value) if own else {name: vars(value).get(name) for name in value.arg_constraints}
    found = {name: tensor for name, tensor in made.items() if isinstance(tensor, torch.Tensor)}
    held = ((name, inner) for name, inner in made.items() if isinstance(inner, Distribution) and not found)
    return found or {f"{name}.{n}": tensor for name, inner in held for n, tensor in tensors_of(inner).items()}


def _run(module: Any, inputs: list[Any], seed: int = 0, work: Work | None = None) -> list[torch.Tensor]:
    torch.manual_seed(seed)
    given = copy.deepcopy(inputs)
    with torch.no_grad(), bounded(), work or nullcontext():
        result = module(*given)
    if not isinstance(result, torch.Tensor | list | tuple | dict):
        raise UnfitError("outputs are not tensors", type(result).__name__)
    return [t.detach() for t in leaves(result)]  # a parameter's view is not to know that this will be changed


def _deterministic(module: Any, inputs: list[Any], first: list[torch.Tensor]) -> tuple[str, list[torch.Tensor]]:
    """The mode in which the module is deterministic, and its outputs in it; as constructed if it can be, else "eval".

    ``first`` are its outputs as it was constructed.
    """
    if _repeats(module, inputs, first, 1):
        return "train", first
    module.eval()
    before = _run(module, inputs, 1)
    if _repeats(module, inputs, before, 2):
        return "eval", before
    raise UnfitError("nondeterministic")


def _repeats(module: Any, inputs: list[Any], before: list[torch.Tensor], seed: int) -> bool:
    """Whether outputs are the same with another seed, in many runs of what throws dice: these may matter seldom."""
    dice = _dice()
    if not same(before, _run(module, inputs, seed)):
        return False
    for throw in range(THROWS) if dice != _dice() else ():
        random.seed(throw)
        np.random.seed(throw)
        if not same(before, _run(module, inputs, seed)):
            return False
    return True


def _dice() -> tuple[Any, ...]:
    """The states of the generators that no seed of torch's is for: Python's own, and numpy's."""
    numbers: Any = np.random.get_state()
    return random.getstate(), bytes(numbers[1]), *numbers[2:]


def _outputs(program: Program, entry_point: str, seed: int, mode: str) -> list[torch.Tensor]:
    torch.manual_seed(seed)
    module = _constructed(program, entry_point)
    if mode == "eval":
        module.eval()
    return _run(module, program.inputs())


def all_finite(tensors: Iterable[torch.Tensor]) -> bool:
    """Whether no number among some tensors is infinite or none.

    By the least and the largest, which tell both: ``torch.isfinite`` of a large tensor takes three times its memory.
    """
    parts = (torch.view_as_real(t.resolve_conj()) if t.is_complex() else t for t in tensors if t.numel())
    ends = (torch.aminmax(t.detach()) for t in parts if t.is_floating_point())
    return all(math.isfinite(low) and math.isfinite(high) for low, high in ends)


def _outputs_fit(outputs: list[list[torch.Tensor]]) -> None:
    every = [t for out in outputs for t in out]
    if all(t.numel() == 0 for t in every):  # one may be: a cache that is not asked for
        raise UnfitError("outputs are not tensors", "empty")
    if not all_finite(every):
        raise UnfitError("not finite")
    if _constant(every):
        raise UnfitError("output constant")


def _constant(outputs: list[torch.Tensor]) -> bool:
    """Whether all numbers of some outputs are the same; complex ones are not looked at beside others."""
    looked_at = [t for t in outputs if not t.is_complex()] or outputs
    first = next((t.flatten()[0] for t in looked_at if t.numel()), None)
    return first is None or all(bool((t == first).all()) for t in looked_at)


def _depends(module: Any, inputs: list[Any], before: list[torch.Tensor]) -> list[str]:
    """What is read of each tensor among the inputs; ``before`` are the outputs for them as they are.

    Raises:
        UnfitError: one of them does not matter, or there are some and of all of them nothing but the shapes is read.
    """
    reads = list[str]()
    for i, tensor in enumerate(leaves(inputs)):
        if not tensor.numel():  # it says that there is none, as None does
            reads.append(READS_SHAPE)
            continue
        changed = copy.deepcopy(inputs)
        target = list(leaves(changed))[i]
        torch.manual_seed(7)
        if tensor.is_floating_point():
            target.copy_(torch.rand_like(target) if tensor.min() >= 0 else torch.randn_like(target))
        elif tensor.dtype == torch.bool:
            target.copy_(torch.rand(target.shape) < 0.25)
        else:
            target.copy_(torch.randint(int(tensor.min()), int(tensor.max()) + 1, target.shape))
            if torch.equal(target, tensor):  # of few numbers that is likely: others are to be seen
                target.copy_((tensor + 1) % (max(1, int(tensor.max())) + 1))
        try:
            after = _run(module, changed)
        except (RuntimeError, ValueError, IndexError, AssertionError):  # other lengths or indices do not even run
            reads.append(READS_VALUES)
            continue
        reads.append(READS_SHAPE if same(before, after) else READS_VALUES)
        if reads[i] == READS_SHAPE and not shape_matters(inputs, leaves, i, lambda g: _run(module, g), before):
            raise UnfitError("output constant" if _constant(before) else IGNORES, f"input {i}")
    if reads and READS_VALUES not in reads:
        raise UnfitError("output constant" if _constant(before) else IGNORES, "values of all")
    return reads


def _described(tensor: torch.Tensor) -> dict[str, Any]:
    bounds = (float(tensor.min()), float(tensor.max())) if tensor.numel() and not tensor.is_complex() else (None, None)
    return {
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "low": bounds[0],
        "high": bounds[1],
    }
