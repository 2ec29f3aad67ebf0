"""What a candidate remembers between calls: a fingerprint of all that its code can reach and change. In children only.

Two equal calls must leave the same behind. Caches do (they are full after the first), workspaces do; a counter, by
which a kernel could be right for as long as it is watched, does not.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable
from types import FunctionType, GeneratorType, MappingProxyType, MethodType, ModuleType
from typing import Any

import torch

from kdata.verify.enclosure import CANDIDATE
from kdata.verify.wire import raw

PLAIN = (int, float, complex, str, bytes, bytearray, type(None), torch.dtype, torch.device, range)
LONGEST = 1 << 22  # bytes of a tensor that are looked at
DEEPEST = 40


def fingerprint(module: ModuleType, model: torch.nn.Module, apart: set[int]) -> str:
    """Hash of what the candidate's module and its instance hold; tensors whose ids are in ``apart`` do not count."""
    walk = _Walk(apart)
    walk.visit(vars(module), 0)
    walk.visit(model, 0)
    return walk.hash.hexdigest()


class _Walk:
    def __init__(self, apart: set[int]) -> None:
        self.hash = hashlib.sha256()
        self._apart = apart
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
        for part in _parts(thing, self._tensor):
            self.visit(part, depth + 1)

    def _say(self, text: str) -> None:
        self.hash.update(text.encode() + b"\0")

    def _tensor(self, tensor: torch.Tensor) -> None:
        if id(tensor) in self._apart or tensor.layout is not torch.strided:
            return
        self._say(f"{tensor.dtype} {tuple(tensor.shape)}")
        if tensor.numel() * tensor.element_size() <= LONGEST:
            self.hash.update(raw(tensor.detach()))


def _parts(thing: Any, tensor: Callable[[torch.Tensor], None]) -> list[Any]:
    """What an object holds that a call may have changed."""
    if isinstance(thing, torch.Tensor):
        tensor(thing)
        return [vars(thing)]
    if isinstance(thing, dict | MappingProxyType):
        skipped = ("__builtins__", "__doc__", "__loader__", "__spec__", "__cached__", "__file__", "__dict__")
        return [part for key, value in thing.items() if key not in skipped for part in (key, value)]
    if isinstance(thing, list | tuple | deque):
        return list(thing)
    if isinstance(thing, set | frozenset):
        return sorted(map(repr, thing))
    if isinstance(thing, FunctionType):
        cells = [cell.cell_contents for cell in thing.__closure__ or () if _filled(cell)]
        return [thing.__defaults__, thing.__kwdefaults__, vars(thing), *cells] if thing.__module__ == CANDIDATE else []
    if isinstance(thing, MethodType):
        return [thing.__self__, thing.__func__]
    if isinstance(thing, GeneratorType):
        frame = thing.gi_frame
        return [frame.f_lasti, dict(frame.f_locals)] if frame else ["ended"]
    if isinstance(thing, torch.Generator):
        return [thing.get_state()]
    return _of_class(thing)


def _of_class(thing: Any) -> list[Any]:
    kind = thing if isinstance(thing, type) else type(thing)
    if isinstance(thing, torch.nn.Module) or kind.__module__ == CANDIDATE:
        slots = [getattr(thing, name, None) for name in getattr(kind, "__slots__", ())]
        return [vars(thing) if hasattr(thing, "__dict__") else None, *slots]
    if kind.__module__.startswith("triton."):  # kernels: numbers only, for their caches fill as they run
        held = vars(thing) if hasattr(thing, "__dict__") else {}
        return [v for _, v in sorted(held.items()) if isinstance(v, int | str)]
    if kind.__module__ in ("builtins", "itertools", "collections") and not isinstance(thing, type | ModuleType):
        return _reduced(thing)
    return []


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
