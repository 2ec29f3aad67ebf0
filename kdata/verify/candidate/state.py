"""What a candidate remembers between calls: a fingerprint of all that its code can reach and change. In children only.

Two equal calls must leave the same behind. Caches do (they are full after the first), workspaces do; a counter, by
which a kernel could be right for as long as it is watched, does not. Two calls that differ in values only must leave
the same behind but for what stands in tensors: a counter of different inputs does not.
"""

from __future__ import annotations

import gc
import hashlib
import warnings
from collections import deque
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any

import torch

from kdata.verify.candidate.enclosure import CANDIDATE, of_library
from kdata.verify.wire import raw

PLAIN = (int, float, complex, str, bytes, bytearray, type(None), torch.dtype, torch.device, range)
LAUNCHING = frozenset({"cache", "nargs", "bench_time", "configs_timings", "_turn", "rewritten_fn", "_do_bench"})
LONGEST = 1 << 22  # bytes of a tensor that are looked at
DEEPEST = 40
OF_PYTHON = 1 << 9  # of a class: made while the program runs (Py_TPFLAGS_HEAPTYPE in CPython's Include/object.h)


def fingerprint(
    module: ModuleType, model: torch.nn.Module, apart: set[int], left: list[Any], values: bool = True
) -> str:  # fmt: skip
    """Hash of what the candidate's module and its instance hold, and of what it ``left`` in other places.

    Tensors whose ids are in ``apart`` do not count, nor without ``values`` what stands in the others.
    """
    walk = _Walk(apart, values)
    walk.visit(vars(module), 0)
    walk.visit(model, 0)
    walk.visit(left, 0)
    walk.visit([repr(entry) for entry in warnings.filters], 0)
    return walk.hash.hexdigest()


class _Walk:
    def __init__(self, apart: set[int], values: bool) -> None:
        self.hash = hashlib.sha256()
        self._apart, self._values = apart, values
        self._seen: dict[int, int] = {}
        self._keep: list[Any] = []  # a freed object's id must not be taken for another's

    def visit(self, thing: Any, depth: int) -> None:
        """Add an object and what it refers to."""
        if isinstance(thing, PLAIN):
            self._say(f"{type(thing).__name__} {thing!r}")
            return
        if id(thing) in self._seen or depth > DEEPEST:
            self._say(f"again {self._seen.get(id(thing), -1)}")
            return
        self._seen[id(thing)] = len(self._seen)
        self._keep.append(thing)
        self._say(type(thing).__name__)
        if self._values or not type(thing).__module__.startswith("triton."):  # tuners remember what they chose last
            for part in parts(thing, self._tensor):
                self.visit(part, depth + 1)

    def _say(self, text: str) -> None:
        self.hash.update(text.encode() + b"\0")

    def _tensor(self, tensor: torch.Tensor) -> None:
        if id(tensor) in self._apart or tensor.layout is not torch.strided or not self._values:
            return
        self._say(f"{tensor.dtype} {tuple(tensor.shape)}")
        if tensor.numel() * tensor.element_size() <= LONGEST:
            self.hash.update(raw(tensor.detach()))


def parts(thing: Any, tensor: Callable[[torch.Tensor], None]) -> list[Any]:
    """What an object holds that a call may have changed."""
    if isinstance(thing, torch.Tensor):
        tensor(thing)
        return [vars(thing), thing.grad if thing.is_leaf or thing.retains_grad else None]  # others' warn, and leave it
    if isinstance(thing, dict | MappingProxyType):
        skipped = ("__builtins__", "__doc__", "__loader__", "__spec__", "__cached__", "__file__", "__dict__")
        return [part for key, value in thing.items() if key not in skipped for part in (key, value)]
    if isinstance(thing, list | tuple | deque):
        return list(thing)
    if isinstance(thing, set | frozenset):
        plain = sorted(repr(member) for member in thing if isinstance(member, PLAIN))
        return [*plain, *(member for member in thing if not isinstance(member, PLAIN))]
    if isinstance(thing, FunctionType):
        return _of_function(thing)
    if isinstance(thing, MethodType):
        return [thing.__self__, thing.__func__]
    if isinstance(thing, GeneratorType):
        frame = thing.gi_frame
        return [frame.f_lasti, dict(frame.f_locals)] if frame else ["ended"]
    if isinstance(thing, CoroutineType):
        frame = thing.cr_frame
        return [frame.f_lasti, dict(frame.f_locals)] if frame else ["ended"]
    if isinstance(thing, torch.Generator):
        return [thing.get_state()]
    return _of_object(thing)


def _of_function(function: FunctionType) -> list[Any]:
    """A library's functions may hold what a candidate puts on them; its own hold more."""
    if function.__globals__.get("__name__") != CANDIDATE:
        return [vars(function)]
    cells = [cell.cell_contents for cell in function.__closure__ or () if _filled(cell)]
    return [function.__defaults__, function.__kwdefaults__, vars(function), *cells]


def _of_object(thing: Any) -> list[Any]:
    if isinstance(thing, ModuleType) or (isinstance(thing, type) and of_library(thing)):
        return []
    if isinstance(thing, BuiltinFunctionType):
        return [thing.__self__]  # of a list's method, the list
    kind = thing if isinstance(thing, type) else type(thing)
    native = not kind.__flags__ & OF_PYTHON  # iterators are found in no module
    if native and not of_library(kind) and (stands := _reduced(thing)):
        return stands
    if isinstance(thing, torch.nn.Module) or not of_library(kind):
        slots = [getattr(thing, name, None) for name in getattr(kind, "__slots__", ())]
        return [vars(thing) if hasattr(thing, "__dict__") else None, *slots]
    if kind.__module__ in ("builtins", "itertools", "collections") and (reduced := _reduced(thing)):
        return reduced
    if kind.__module__.startswith("triton.") and hasattr(thing, "__dict__"):  # they remember launches as they run
        return [part for name, value in sorted(vars(thing).items()) if name not in LAUNCHING for part in (name, value)]
    return [part for part in gc.get_referents(thing) if part is not kind]


def _reduced(thing: Any) -> list[Any]:
    """Where an iterator stands."""
    try:
        reduced = thing.__reduce__()
    except TypeError:  # no state that could be copied
        return []
    return [part for part in reduced[1:] if part is not None] if isinstance(reduced, tuple) else []


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
