"""What a candidate remembers between calls: a fingerprint of all that its code can reach and change. In children only.

Two equal calls must leave the same behind. Caches do (they are full after the first), workspaces do; a counter, by
which a kernel could be right for as long as it is watched, does not. Two calls that differ in values only must leave
the same behind but for what stands in tensors: a counter of different inputs does not.
"""

from __future__ import annotations

import gc
import hashlib
import re
import warnings
import zlib
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any

import torch

from kdata.verify.candidate.enclosure import CANDIDATE, of_library
from kdata.verify.candidate.versions import Version
from kdata.verify.exchange.wire import raw

PLAIN = (bool, int, float, complex, str, bytes, bytearray, type(None), torch.dtype, torch.device, range)
OF_MODULES = frozenset({"__builtins__", "__loader__", "__spec__"})  # which candidates can neither say nor change
BUILT_IN = (dict, list, tuple, set, frozenset, deque, MappingProxyType, FunctionType, MethodType, GeneratorType)
ASKS_VERSIONS = re.compile(r"\b_version\b")
LAUNCHING = frozenset({"cache", "nargs", "bench_time", "configs_timings", "_turn", "rewritten_fn", "_do_bench"})
LONGEST = 1 << 22  # bytes of a tensor of which a good hash is made; of longer ones a quick one
OF_PYTHON = 1 << 9  # of a class: made while the program runs (Py_TPFLAGS_HEAPTYPE in CPython's Include/object.h)


def fingerprint(
    module: ModuleType, model: torch.nn.Module, apart: set[int], left: list[Any], values: bool = True
) -> str:  # fmt: skip
    """Hash of what the candidate's module and its instance hold, and of what it ``left`` in other places.

    Tensors whose ids are in ``apart`` do not count, nor without ``values`` what stands in the others.  How often one
    was changed in place counts where the text asks for that: who does not may clear a workspace at each call.
    """
    walk = _walked(module, model, apart, left, values)
    return walk.hash.hexdigest()


def kept_tensors(module: ModuleType, model: torch.nn.Module, apart: set[int]) -> list[torch.Tensor]:
    """The tensors that the candidate's module and its instance hold, but for those whose ids are in ``apart``."""
    return _walked(module, model, apart, [], values=True).tensors


def _walked(module: ModuleType, model: torch.nn.Module, apart: set[int], left: list[Any], values: bool) -> _Walk:
    walk = _Walk(apart, values, bool(ASKS_VERSIONS.search(Path(str(module.__file__)).read_text("utf-8", "replace"))))
    named = {name: value for name, value in vars(module).items() if name not in OF_MODULES}
    for root in (named, model, left, [repr(entry) for entry in warnings.filters]):
        walk.visit(root)
    return walk


class _Walk:
    def __init__(self, apart: set[int], values: bool, versions: bool) -> None:
        self.hash = hashlib.sha256()
        self.tensors: list[torch.Tensor] = []
        self._apart, self._values, self._versions = apart, values, versions
        self._seen: dict[int, int] = {}
        self._keep: list[Any] = []  # a freed object's id must not be taken for another's

    def visit(self, root: Any) -> None:
        """Add an object and what it refers to, however deep: a stack of our own has no deepest place."""
        left = [root]
        while left:
            thing = left.pop()
            if type(thing) in PLAIN:
                self._say(f"{type(thing).__name__} {thing!r}")
            elif type(thing) is Version:
                self._say(repr(thing) if self._values else "")
            elif id(thing) in self._seen:
                self._say(f"again {self._seen[id(thing)]}")
            else:
                left += reversed(self._new(thing))

    def _new(self, thing: Any) -> list[Any]:
        """Say what an object is that was not seen before; what it refers to."""
        self._seen[id(thing)] = len(self._seen)
        self._keep.append(thing)
        known = self._values or not type(thing).__module__.startswith("triton.")  # tuners remember what they chose last
        found = parts(thing, self._tensor) if known else []
        self._say(f"{type(thing).__name__} {len(found)}")
        return found

    def _say(self, text: str) -> None:
        self.hash.update(text.encode() + b"\0")

    def _tensor(self, tensor: torch.Tensor) -> None:
        self._say(str(tensor.requires_grad))
        if tensor.layout is not torch.strided or not self._values:
            return
        counts = self._versions and not tensor.is_inference()
        if id(tensor) in self._apart:  # buffers are given anew where a call has changed them
            counts = counts and isinstance(tensor, torch.nn.Parameter)
        changes = tensor._version if counts else 0
        self._say(f"{tensor.dtype} {tuple(tensor.shape)} {tensor.stride()} {changes}")
        if id(tensor) in self._apart:
            return
        self._say(str(tensor.storage_offset()))
        if tensor.device.type != "meta":
            self.tensors.append(tensor)
            whole = raw(tensor.detach())
            self.hash.update(whole if len(whole) <= LONGEST else zlib.crc32(whole).to_bytes(4, "big"))


def parts(thing: Any, tensor: Callable[[torch.Tensor], None]) -> list[Any]:
    """What an object holds that a call may have changed: as what it is by its type, and as what it is beyond it."""
    held = _held(thing, tensor)
    if held is None:
        return _of_object(thing)
    return held if type(thing) in BUILT_IN else [*held, *_attributes(thing)]


def _held(thing: Any, tensor: Callable[[torch.Tensor], None]) -> list[Any] | None:
    """What a tensor, a container, a function or what is like one holds; None of others."""
    if isinstance(thing, torch.Tensor):
        tensor(thing)
        return [thing.grad if thing.is_leaf or thing.retains_grad else None]  # others' warn, and leave it
    if isinstance(thing, PLAIN):  # of a class that adds to it
        return [repr(thing)]
    if isinstance(thing, dict | MappingProxyType):
        return [
            part for key, value in thing.items() if type(value) is not GetSetDescriptorType for part in (key, value)
        ]
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
    return [thing.get_state()] if isinstance(thing, torch.Generator) else None


def _attributes(thing: Any) -> list[Any]:
    """What was added to an object of a class that allows it."""
    slots = [getattr(thing, name, None) for name in getattr(type(thing), "__slots__", ()) if isinstance(name, str)]
    return [vars(thing) if hasattr(thing, "__dict__") else None, *slots]


def _of_function(function: FunctionType) -> list[Any]:
    """A library's functions may hold what a candidate puts on them; its own hold more."""
    if function.__globals__.get("__name__") != CANDIDATE:
        return [vars(function)]
    cells = [cell.cell_contents for cell in function.__closure__ or () if _filled(cell)]
    names = [function.__name__, function.__qualname__, function.__doc__]
    return [*names, function.__defaults__, function.__kwdefaults__, vars(function), *cells]


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
        named = [thing.__name__, thing.__qualname__] if isinstance(thing, type) else []
        return [*named, *_attributes(thing)]
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
