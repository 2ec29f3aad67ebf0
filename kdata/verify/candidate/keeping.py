"""Where a candidate keeps memory of its weights, beside where torch registers them. In the host's child.

What it took there at its first call stays the weight that it was when another one takes that one's place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial
from types import FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

from torch import Tensor, layout, nn, strided

from kdata.verify.candidate.enclosure import of_library
from kdata.verify.candidate.state import parts
from kdata.verify.exchange.guards import storage_of

REGISTERED = frozenset({"_parameters", "_buffers", "_modules"})
DEEPEST = 8  # objects within objects
STRIDED: layout = strided
OPEN = (dict, MappingProxyType, list, tuple, deque, set, frozenset, FunctionType, MethodType)


def keeping(model: nn.Module, program: ModuleType) -> set[str]:
    """Names that hold memory of a module's weights or buffers: its modules' attributes, and those of its ``program``.

    What is within an object of the program's own counts as held by the name of that one; what is within a module does
    not, for that one gives the weight that it has by then.
    """
    modules = [*nn.Module.named_modules(model)]
    held = [t for _, m in modules for t in (*m._parameters.values(), *m._buffers.values()) if t is not None]
    own = {storage_of(t).data_ptr() for t in held if t.numel() and t.layout is STRIDED}
    names = {f"{name}.{attribute}".strip("."): value for name, module in modules
             for attribute, value in vars(module).items() if attribute not in REGISTERED}  # fmt: skip
    names |= {name: value for name, value in vars(program).items() if not name.startswith("__")}
    seen: set[int] = set()
    return {n for n, value in names.items() if any(storage_of(t).data_ptr() in own for t in _within(value, seen))}


def _within(thing: Any, seen: set[int], depth: int = 0) -> Iterator[Tensor]:
    """The tensors that an object holds, as far as these and what they are in is no library's."""
    if isinstance(thing, Tensor):
        if thing.layout is STRIDED:
            yield thing
        return
    if id(thing) in seen or depth > DEEPEST or isinstance(thing, nn.Module | ModuleType):
        return
    seen.add(id(thing))
    for part in _parts(thing):
        yield from _within(part, seen, depth + 1)


def _parts(thing: Any) -> list[Any]:
    """What is in a container, a function or an object of the program's own; nothing is asked of the collector."""
    if isinstance(thing, partial):
        return [thing.func, thing.args, thing.keywords]
    kind = thing if isinstance(thing, type) else type(thing)
    return parts(thing, lambda _: None) if isinstance(thing, OPEN) or not of_library(kind) else []
