"""Seeing kernels launch, and keeping them from it. In the host's child, installed before the candidate is imported."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any, Literal

import numpy as np
import torch
from triton import language as tl
from triton.runtime import JITFunction, interpreter
from triton.tools.tensor_descriptor import TensorDescriptor

from kdata.verify.candidate.addresses import pointed_to
from kdata.verify.candidate.enclosure import of_library, refuse
from kdata.verify.exchange.guards import storage_of
from kdata.verify.interpreter import captured, distant, sampling, streams
from kdata.verify.interpreter.interpreter import give

Launch = dict[str, Any]
as_numpy = torch.Tensor.numpy  # before reading values past the dispatcher is noted
MOST, LARGEST = 32, 4 << 20  # tensors of launches that are looked at, and bytes of each
MOST_PROGRAMS = 2**31 - 1, 2**16 - 1, 2**16 - 1  # of a grid, in each of its dimensions
SINGLE = 8  # numbers that Python may have made of such as were read
WRITTEN = 0.3  # share of a tensor's bytes that kernels change, from which on it is theirs
OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
POINTEES = {
    torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.int64: "i64",
    torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "i1",
    torch.float8_e4m3fn: "fp8e4nv", torch.float8_e5m2: "fp8e5",
}  # fmt: skip


class InjectedError(RuntimeError):
    """The fault that is injected to see whether a candidate hides it."""


class MisplacedError(ValueError):
    """A launch is given what is on the host, as a GPU's would tell."""


class Launched(SimpleNamespace):
    """What a launch returns on a GPU, as far as wrappers ask: the interpreter returns nothing."""

    def __getattr__(self, name: str) -> Any:
        """All else would show who runs the kernel.

        Raises:
            ForbiddenError: always.
        """
        return refuse(f"what a launch returns: {name}")


LAUNCHED = Launched(n_regs=32, n_spills=0, metadata=Launched(shared=0, num_warps=4, num_stages=3))


class Made:
    """What stood in the tensors of launches before any kernel wrote there: what torch made, whoever made it.

    A kernel that only hands on such a tensor has computed nothing.  And which of the given tensors kernels changed,
    whatever became of that afterwards; and which others they wrote to.
    """

    def __init__(self, given: Sequence[torch.Tensor], move: Callable[[], AbstractContextManager[None]]) -> None:
        self.found: list[torch.Tensor] = []
        self.used: set[int] = set()  # storages of what was given, as far as a kernel changed them
        self._move = move
        self._given = {storage_of(t).data_ptr() for t in given}
        self._kernels: set[int] = set()  # storages that kernels wrote most of, and copies of these
        self._written: set[int] = set()  # such as they wrote anything of

    @contextlib.contextmanager
    def _unseen(self) -> Iterator[None]:
        with torch._C.DisableTorchFunction(), self._move():
            yield

    @contextlib.contextmanager
    def around(self, tensors: Sequence[torch.Tensor]) -> Iterator[None]:
        """One launch."""
        storages = {s.data_ptr(): s for s in map(storage_of, tensors) if s.nbytes() <= LARGEST}
        for tensor in tensors:
            address = storage_of(tensor).data_ptr()
            if address in storages and address not in self._given | self._kernels and len(self.found) < MOST:
                with self._unseen():
                    self.found.append(tensor.detach().clone())
        with self._unseen():
            spans = _spans(tensors)
            before = {address: _content(storage) for address, storage in storages.items()}
        yield
        with self._unseen():
            for address, storage in storages.items():
                first, end = spans[address]
                changed = (_content(storage) != before[address])[first:end]
                self._kernels |= {address} if changed.size and changed.mean() > WRITTEN else set()
                self.used |= {address} & self._given if changed.any() else set()
                self._written |= {address} if changed.any() else set()

    def copied(self, sources: Sequence[torch.Tensor], to: torch.Tensor, over: bool = False) -> None:
        """Torch copies: what kernels made stays theirs. ``over``: to the first of these, which then is theirs no more.

        Unless what is copied is.
        """
        here = storage_of(to).data_ptr()
        for held in (self._kernels, self._written):
            if any(storage_of(t).data_ptr() in held for t in sources):
                held.add(here)
        if over and not any(storage_of(t).data_ptr() in self._written for t in sources[1:]):
            self._written.discard(here)

    def told(self, given: Sequence[torch.Tensor], outputs: Any) -> dict[str, Any]:
        """Which of the given tensors kernels changed, and which of the outputs hold numbers that none has written.

        ``outputs``: those of a call that has read numbers; large ones cannot be made of a few.
        """
        theirs = self._written | self._given
        made = torch.utils._pytree.tree_leaves(outputs)
        few = [(n, t) for n, t in enumerate(made) if isinstance(t, torch.Tensor) and 0 < t.numel() <= SINGLE]
        real = [(n, t) for n, t in few if t.is_floating_point() and storage_of(t).data_ptr() not in theirs]
        filled = [n for n, t in real if bool(((t != 0) & (t != 1)).all())]
        return {"used": [n for n, t in enumerate(given) if storage_of(t).data_ptr() in self.used], "filled": filled}


def _spans(tensors: Sequence[torch.Tensor]) -> dict[int, tuple[int, int]]:
    """The bytes of each storage that tensors reach: guard bars are none of them, and may be most of a small one."""
    spans: dict[int, tuple[int, int]] = {}
    for tensor in tensors:
        address, size = storage_of(tensor).data_ptr(), tensor.element_size()
        reach = sum((n - 1) * stride for n, stride in zip(tensor.shape, tensor.stride(), strict=True))
        offset = int(tensor.storage_offset())
        first, end = offset * size, (offset + int(reach) + 1) * size
        before = spans.get(address, (first, end))
        spans[address] = min(first, before[0]), max(end, before[1])
    return spans


def _content(storage: torch.UntypedStorage) -> Any:
    return as_numpy(torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage).cpu()).copy()


def tensors_among(values: Sequence[Any]) -> list[torch.Tensor]:
    """The tensors among a launch's arguments."""
    flat = [v for value in values for v in (value if isinstance(value, tuple) else (value,))]
    bases = [getattr(value, "base", value) for value in flat]  # of a tensor descriptor
    return [base for base in bases if isinstance(base, torch.Tensor)]


@dataclass(slots=True)
class Ledger:
    """What was launched since it was last cleared."""

    # far: on addresses alone; placed: nothing runs, and what is on the host is an error as on a GPU
    behaviour: Literal["run", "skip", "fail", "far", "placed"] = "run"
    launches: list[Launch] = field(default_factory=list)
    moving: bool = False  # the interpreter moves arguments to where it wants them: no work of the candidate
    native: bool = False  # the candidate is compiled: it can compute with what is on the host
    calling: bool = False  # its forward runs, not what loads its weights
    made: Made | None = None  # in the trial that is looked at for it

    def install(self) -> None:
        """Put this ledger between the candidate and the interpreter."""
        function: Any = interpreter.InterpretedFunction
        executor: Any = vars(interpreter)["GridExecutor"]
        run = function.run
        ledger = self

        def watched(self: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
            if warmup:
                return LAUNCHED
            for value in (*args, *kwargs.values()):
                if hasattr(value, "data_ptr") and not of_library(type(value)):
                    refuse(f"an argument of class {type(value).__name__}")  # moving it would run its code unwatched
            launch = signature(self, args, kwargs, grid)
            ledger.launches.append(launch)
            _fits(launch["grid"])
            captured.unchanged(self.fn)
            grid = sampling.thinned(launch["grid"]) if sampling.active() else _plain(grid)
            if ledger.behaviour == "fail":
                raise InjectedError("injected: this launch failed")
            if ledger.behaviour == "placed":
                with ledger.move():
                    _on_device(dict(zip(self.arg_names, args, strict=False)) | kwargs)
            if ledger.behaviour == "far":
                distant.launch(partial(run, self, grid=grid, warmup=False), args, kwargs)
            if ledger.behaviour == "run":
                values = [*args, *kwargs.values()]
                with ledger.move():
                    values += pointed_to(tensors_among(values))
                ranges = memory(values)
                give(ranges)
                with ledger.around(tensors_among(values)):
                    sampling.launch(partial(run, self, *args, grid=grid, warmup=False, **kwargs), ranges)
            return LAUNCHED

        function.run = watched
        for name in ("_init_args_hst", "_restore_args_dev"):
            setattr(executor, name, self._while_moving(getattr(executor, name)))

    def _while_moving(self, method: Any) -> Any:
        def moved(executor: Any, *args: Any) -> Any:
            with self.move():
                return method(executor, *args)

        return moved

    @contextlib.contextmanager
    def around(self, tensors: Sequence[torch.Tensor]) -> Iterator[None]:
        """One launch that uses these tensors, and others in their memory."""
        with contextlib.ExitStack() as stack:
            if self.made:
                stack.enter_context(self.made.around(tensors))
            if streams.several():
                stack.enter_context(self._on_stream(tensors))
            yield

    @contextlib.contextmanager
    def _on_stream(self, tensors: Sequence[torch.Tensor]) -> Iterator[None]:
        storages = {s.data_ptr(): s for s in map(storage_of, tensors)}
        streams.start(storages)
        with torch._C.DisableTorchFunction(), self.move():
            before = {address: _content(storage) for address, storage in storages.items()}
        yield
        with torch._C.DisableTorchFunction(), self.move():
            changed = [a for a, storage in storages.items() if not np.array_equal(_content(storage), before[a])]
        streams.wrote(changed, [*storages.values()])

    @contextlib.contextmanager
    def move(self) -> Iterator[None]:
        """While the harness itself calls torch."""
        before, self.moving = self.moving, True
        try:
            yield
        finally:
            self.moving = before


def _fits(extent: list[int]) -> None:
    """Ask of a grid what a GPU asks.

    Raises:
        RuntimeError: it is larger.
    """
    for n, most in zip(extent, MOST_PROGRAMS, strict=False):
        if n > most:
            raise RuntimeError(f"a grid of {n} programs in one dimension, where a GPU takes {most}")


def _on_device(given: dict[str, Any]) -> None:
    """Ask of a launch's arguments what Triton asks: that no memory of the host's is among them.

    Raises:
        MisplacedError: there is.
    """
    for name, value in given.items():
        if any(tensor.is_cpu and tensor.numel() for tensor in tensors_among([value])):
            raise MisplacedError(f"{name} is on the CPU: a kernel on a GPU cannot access it")


def memory(values: list[Any]) -> list[tuple[int, int]]:
    """Address ranges of the tensors among a launch's arguments, without their guard bars."""
    ranges = []
    for value in values:
        if isinstance(value, tuple):
            ranges += memory(list(value))
        base = getattr(value, "base", value)  # of a tensor descriptor
        if isinstance(base, torch.Tensor):
            storage = storage_of(base)
            ranges.append((storage.data_ptr(), storage.data_ptr() + storage.nbytes()))
    return ranges


def _plain(grid: Any) -> Any:
    """A grid as the interpreter takes it: lists are as good on a GPU, and Triton's own tutorials answer with one."""
    if callable(grid):
        return lambda meta: _plain(grid(meta))
    return tuple(grid) if isinstance(grid, list) else grid


def signature(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], grid: Any) -> Launch:
    """A launch as plain data: enough to compile the kernel for this call, and to see whether calls differ by size."""
    names = function.arg_names
    bound = dict(zip(names, args, strict=False)) | {k: v for k, v in kwargs.items() if k in names}
    meta = {k: v for k, v in kwargs.items() if k in OPTIONS and isinstance(v, int)}
    size = grid(_defaults(function) | bound | meta) if callable(grid) else grid
    extent = [int(n) for n in (size if isinstance(size, tuple | list) else (size,))]
    annotations = function.fn.__annotations__
    fixed = {n for n in names if "constexpr" in str(annotations.get(n, ""))}
    given = {n: _argument(v, n in fixed) for n, v in bound.items()}
    launch = {"kernel": _name(function), "arguments": given, "options": meta, "grid": extent}
    return launch | _within(function.fn)


def _within(kernel: Any) -> dict[str, Any]:
    """Of a kernel that stands in a function: in which, and what it uses of that function's names."""
    place, within, _ = kernel.__qualname__.rpartition(".<locals>.")
    if not within:
        return {}
    names = {name: _held(value) for name, value in _uses(kernel).items()}
    return {"within": {"place": place.split(".<locals>."), "names": names}}


def _uses(kernel: Any) -> dict[str, Any]:
    """What a kernel, and those that it calls, use of the names of the function that they stand in."""
    names = dict(inspect.getclosurevars(kernel).nonlocals) if kernel.__closure__ else {}
    for helper in list(names.values()):
        if isinstance(helper, interpreter.InterpretedFunction | JITFunction) and helper.fn is not kernel:
            names |= _uses(helper.fn)
    return names


def _held(value: Any) -> dict[str, Any]:
    """What a name of a function stands for: a module, a constant of the language, or as in ``_argument``."""
    if isinstance(value, ModuleType):
        return {"module": value.__name__}
    return _argument(value, fixed=True) | ({"constexpr": True} if isinstance(value, tl.constexpr) else {})


def _name(function: Any) -> str:
    """A kernel's name, with that of the class it stands in."""
    full: str = function.fn.__qualname__
    return full.rpartition("<locals>.")[2]


def _defaults(function: Any) -> dict[str, Any]:
    """What parameters are that a launch leaves out: a grid may ask for them."""
    plain = {n: p.default for n, p in inspect.signature(function.fn).parameters.items() if p.default is not p.empty}
    return {n: v.value if isinstance(v, tl.constexpr) else v for n, v in plain.items()}


def _argument(value: Any, fixed: bool) -> dict[str, Any]:
    """``{"type": "*fp32"}`` for what is passed at run time, with its value if a number; else ``{"constant": ..}``.

    Of a tuple ``{"tuple": ..}``: those of its members.
    """
    if isinstance(value, torch.Tensor):
        return {"type": "*" + POINTEES.get(value.dtype, "?")}
    if isinstance(value, TensorDescriptor):
        pointee, block = POINTEES.get(value.base.dtype, "?"), ", ".join(map(str, value.block_shape))
        return {"type": f"tensordesc<{pointee}[{block}]>"}
    if isinstance(value, tl.constexpr):
        value = value.value
    if isinstance(value, tuple):
        return {"tuple": [_argument(v, fixed) for v in value]}
    if isinstance(value, tl.dtype):
        return {"constant": {"dtype": value.name}}
    if isinstance(value, interpreter.InterpretedFunction | JITFunction):
        return {"constant": {"function": _name(value)}}
    if fixed or value is None or isinstance(value, str):
        plain = value is None or isinstance(value, bool | int | float | str)
        return {"constant": value} if plain else {"unknown": type(value).__name__}
    if isinstance(value, bool):
        return {"type": "i1", "value": value}
    if isinstance(value, int):
        return {"type": "i32" if -(2**31) <= value < 2**31 else "i64", "value": value}
    return {"type": "fp32", "value": value} if isinstance(value, float) else {"unknown": type(value).__name__}
