"""Launches on tensors without memory: a few programs of each run on addresses alone. In the host's child.

What they load is zeros and what they store is dropped, so that no size is too large.  An offset of 32 bits that has run
over shows in an address outside of all tensors.  Either alone tells nothing: hashes run over, and an address that is
made of what was loaded is not the one that it would be.  Where it is asked whether places are counted in float32, which
holds no more than even numbers from 2^24 on, that shows in two lanes that store to one address.
"""

from __future__ import annotations

import contextlib
import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from triton.runtime import interpreter
from triton.tools.tensor_descriptor import TensorDescriptor

from kdata.verify.exchange.guards import storage_of
from kdata.verify.interpreter import sampling

Array = np.ndarray[Any, np.dtype[Any]]
PROGRAMS = 4  # of a launch: the corners of its grid
FIRST, APART = 1 << 44, 1 << 42  # the address of the first tensor, and from one to the next: beyond any size
PATIENCE, BRIEF = 10.0, 1.0  # seconds of a call, after which no more is looked at; the latter of places in fractions
EXACT = 1 << 24  # from here on float32 does not hold every whole number
# Of an access: where among its arguments pointers and their mask are; an exchange has none.
ACCESSES = (("create_masked_load", 0, 1, "loads"), ("create_masked_store", 0, 2, "stores"),
            ("create_atomic_rmw", 1, 3, "adds"), ("create_atomic_cas", 0, None, "exchanges"))  # fmt: skip
WIDER = {"create_add": np.add, "create_sub": np.subtract, "create_mul": np.multiply, "create_shl": np.left_shift}


class _EnoughError(Exception):
    """What a program does from here on is not looked at."""


@dataclass(frozen=True, slots=True)
class Laid:
    """A tensor of which there is an address only; Triton asks for its dtype, too."""

    address: int
    dtype: torch.dtype

    def data_ptr(self) -> int:
        """Where its first element would lie."""
        return self.address


@dataclass(slots=True)
class Call:
    """What is known of the call that is looked at."""

    until: float
    fractions: bool  # it is looked for places in fractions, and for nothing else
    places: dict[int, tuple[int, int]] = field(default_factory=dict)  # of storages: first address, and one past the end
    over: bool = False  # a sum or product of 32 bits of the running program was none
    rounded: bool = False  # the running program has made whole numbers of such as float32 does not tell apart
    found: str = ""

    def lay(self, value: Any) -> Any:
        """A launch's argument with addresses in place of tensors."""
        if isinstance(value, tuple):
            return tuple(map(self.lay, value))
        if isinstance(value, TensorDescriptor):
            laid = copy.copy(value)
            laid.base = self.lay(value.base)
            return laid
        base = getattr(value, "base", value)  # of a tensor that is taken for one of another dtype
        if not isinstance(base, torch.Tensor):
            return value
        storage = storage_of(base)
        first = FIRST + len(self.places) * APART
        first, _ = self.places.setdefault(storage._cdata, (first, first + storage.nbytes()))
        return Laid(first + int(base.storage_offset()) * base.element_size(), value.dtype)

    def access(self, program: Any, addresses: Array, size: int, does: str) -> None:
        """Look at the addresses of one access.

        Raises:
            _EnoughError: one of them is wrong, or time is over.
        """
        low, high = int(addresses.min()), int(addresses.max()) + size
        inside = any(first <= low and high <= end for first, end in self.places.values())
        if self.fractions and self.rounded and does == "stores" and _twice(addresses):
            self.found = self.found or f"program {program} stores twice to one place, which it counts in float32"
        if not (inside or self.fractions) and self.over:
            self.found = self.found or f"program {program} {does} outside its tensors: an offset of 32 bits runs over"
        if not inside or time.monotonic() > self.until:
            raise _EnoughError


def _twice(addresses: Array) -> bool:
    """Whether one of them is there more than once."""
    ordered = np.sort(addresses, axis=None)
    return bool((ordered[1:] == ordered[:-1]).any())


_call: Call | None = None


@contextlib.contextmanager
def watched(fractions: bool = False) -> Iterator[Call]:
    """One call of a wrapper whose launches are looked at so, or for places in ``fractions`` only."""
    global _call
    sampling.sample(PROGRAMS)
    _call = call = Call(time.monotonic() + (BRIEF if fractions else PATIENCE), fractions)
    builder: Any = interpreter.InterpreterBuilder
    executor: Any = vars(interpreter)["GridExecutor"]
    with contextlib.ExitStack() as stack:
        for name, pointer, mask, does in ACCESSES:
            stack.enter_context(_replaced(builder, name, _without_memory(call, pointer, mask, does)))
        for name, compute in WIDER.items():
            stack.enter_context(_replaced(builder, name, _seen_to_run_over(call, getattr(builder, name), compute)))
        for name in ("create_fp_to_si", "create_fp_to_ui"):
            stack.enter_context(_replaced(builder, name, _seen_to_round(call, getattr(builder, name))))
        stack.enter_context(_replaced(builder, "set_grid_idx", _at_each_program(call, builder.set_grid_idx)))
        stack.enter_context(_replaced(executor, "_init_args_hst", lambda self, args, kwargs: (args, kwargs)))
        stack.enter_context(_replaced(executor, "_restore_args_dev", lambda self, *given: None))
        try:
            yield call
        finally:
            _call = None


def launch(run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Run a kernel, in the places of a grid that ``run`` knows, while a call is looked at."""
    if _call is not None and not _call.found and time.monotonic() < _call.until:
        with contextlib.suppress(Exception):  # zeros in place of its numbers are nothing that it need bear
            run(*map(_call.lay, args), **{k: _call.lay(v) for k, v in kwargs.items()})


@contextlib.contextmanager
def _replaced(owner: Any, name: str, new: Any) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, new)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _without_memory(call: Call, pointer: int, mask: int | None, does: str) -> Any:
    space = vars(interpreter)

    def method(self: Any, *arguments: Any, **_: Any) -> Any:
        pointers = arguments[pointer]
        wanted = np.ones(1, bool) if mask is None else arguments[mask].data
        kind = pointers.get_element_ty()
        if wanted.any():
            chosen = pointers.data[np.broadcast_to(wanted, pointers.data.shape)]
            call.access(self.grid_idx, chosen, max(1, kind.primitive_bitwidth // 8), does)
        if does == "stores":
            return None
        return space["TensorHandle"](np.zeros(pointers.data.shape, space["_get_np_dtype"](kind)), kind)

    return method


def _seen_to_run_over(call: Call, original: Any, compute: Any) -> Any:
    def method(self: Any, one: Any, other: Any) -> Any:
        if not call.over and one.data.dtype == other.data.dtype == np.int32:
            exact = compute(one.data.astype(np.int64), other.data.astype(np.int64))
            call.over = bool((exact != exact.astype(np.int32)).any())
        return original(self, one, other)

    return method


def _seen_to_round(call: Call, original: Any) -> Any:
    def method(self: Any, value: Any, *kind: Any) -> Any:
        if value.data.dtype == np.float32 and value.data.size:
            call.rounded = call.rounded or bool(np.nanmax(np.abs(value.data)) >= EXACT)
        return original(self, value, *kind)

    return method


def _at_each_program(call: Call, step: Any) -> Any:
    def method(self: Any, *place: int) -> None:
        call.over = call.rounded = False
        step(self, *place)

    return method
