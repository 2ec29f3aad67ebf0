"""What ``forward`` is called with: a small description of values, and how to draw them."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from sources.infer import graph_object

BATCH, CHANNELS, TOKENS, SIDE, FEATURES = 4, 64, 64, 32, 64
SPATIAL = {1: (TOKENS,), 2: (SIDE, SIDE), 3: (8, 16, 16)}  # what convolutions over so many dimensions are given
MASK_DENSITY = 0.75
REPEATED = 16381  # values of a large tensor that is drawn roughly: a prime, so that no two rows are equal


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor to draw.

    ``kind``: "float" (normal), "unit" (uniform in [0, 1)), "int" (from ``low`` to below ``high``), "bool", "full" (all
    ``high``).
    """

    shape: tuple[int, ...]
    kind: str = "float"
    high: int = 0
    low: int = 0

    def resized(self, dimension: int, size: int) -> Tensor:
        shape = (*self.shape[:dimension], size, *self.shape[dimension + 1 :])
        return Tensor(shape, self.kind, self.high, self.low)  # a search does it so often that ``replace`` shows


@dataclass(frozen=True, slots=True)
class Plain:
    """A value that is no tensor."""

    value: Any


@dataclass(frozen=True, slots=True)
class Many:
    """A list or tuple of inputs, or a "dict" or "record" of them, with a key or the name of an attribute for each.

    A "graph" has its neighbours, and then fields: see ``sources.infer.graph_object``.
    """

    items: tuple[Spec, ...]
    kind: str = "list"
    keys: tuple[str, ...] = ()
    # Found once: a search asks of thousands of inputs, with dictionaries in lists, what is in them.
    _hash: int | None = field(default=None, init=False, repr=False, compare=False)
    _inside: tuple[Inside, ...] | None = field(default=None, init=False, repr=False, compare=False)
    _extent: Extent | None = field(default=None, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        if self._hash is None:
            object.__setattr__(self, "_hash", hash((self.items, self.kind, self.keys)))
        return self._hash or 0

    def inside(self) -> tuple[Inside, ...]:
        """All tensors in it, with where they are."""
        if self._inside is None:
            found: list[Inside] = []
            for i, item in enumerate(self.items):
                if type(item) is Tensor:
                    found.append(((i,), item))
                elif type(item) is Many:
                    found += [((i, *path), t) for path, t in item.inside()]
            object.__setattr__(self, "_inside", tuple(found))
        return self._inside or ()

    def extent(self) -> Extent:
        """As of ``extent``, of all tensors in it."""
        if self._extent is None:
            object.__setattr__(self, "_extent", extent(self.items))
        return self._extent or NO_EXTENT


Spec = Tensor | Plain | Many
Inside = tuple[tuple[int, ...], Tensor]
Extent = tuple[int, int, int]  # elements of all tensors, and of the largest, and the shortest side of any
NO_EXTENT: Extent = (0, 0, 1)
Specs = tuple[Spec, ...]


def draw(spec: Spec, roughly: bool = False) -> Any:
    """A value for a spec, from torch's generator; ``roughly``: large tensors repeat a few values, which is quick."""
    if isinstance(spec, Plain):
        return spec.value
    if isinstance(spec, Many):
        items = [draw(item, roughly) for item in spec.items]
        if spec.kind == "dict":
            return dict(zip(spec.keys, items, strict=True))
        if spec.kind == "record":
            return SimpleNamespace(**dict(zip(spec.keys, items, strict=True)))
        if spec.kind == graph_object.KIND:
            return graph_object.make(spec.keys, items)
        return items if spec.kind == "list" else tuple(items)
    if spec.kind == "int":
        return torch.randint(spec.low, max(spec.low + 1, spec.high), spec.shape)
    if spec.kind == "full":
        return torch.full(spec.shape, spec.high)
    if spec.kind == "bool":
        return torch.rand(spec.shape) < MASK_DENSITY
    make = torch.rand if spec.kind == "unit" else torch.randn
    if roughly and (count := math.prod(spec.shape)) > REPEATED:
        return make(REPEATED).repeat(count // REPEATED + 1)[:count].view(spec.shape)
    return make(spec.shape)


def all_tensors(specs: Specs) -> list[Inside]:
    """All tensors of a call's arguments, with where they are."""
    found: list[Inside] = []
    for i, spec in enumerate(specs):  # a search asks this of all that it thinks of: most are plain tensors
        if type(spec) is Tensor:
            found.append(((i,), spec))
        elif type(spec) is Many:
            found += [((i, *path), t) for path, t in spec.inside()]
    return found


def extent(specs: Specs) -> Extent:
    """How much some inputs are: elements of all tensors, and of the largest, and the shortest side of any."""
    every, largest, shortest = NO_EXTENT
    for spec in specs:
        if type(spec) is Tensor:
            size = math.prod(spec.shape)
            found = (size, size, min(spec.shape, default=1))
        elif type(spec) is Many:
            found = spec.extent()
        else:
            continue
        every, largest, shortest = every + found[0], max(largest, found[1]), min(shortest, found[2])
    return every, largest, shortest


def elements(specs: Specs) -> int:
    """Of all tensors of some inputs."""
    return extent(specs)[0]


def edited(specs: Specs, path: tuple[int, ...], new: Spec) -> Specs:
    """The arguments with the one at ``path`` replaced."""
    at, *rest = path
    old = specs[at]
    if rest and isinstance(old, Many):
        new = Many(edited(old.items, tuple(rest), new), old.kind, old.keys)
    return (*specs[:at], new, *specs[at + 1 :])


def positional(forward: Any) -> list[str]:
    """Names of all that a forward takes by position."""
    try:
        every = inspect.signature(forward).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in every if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def file_of(module: nn.Module) -> str:
    """The file of the program that a module's class is of; "" where it has none."""
    code = getattr(type(module).forward, "__code__", None)
    return code.co_filename if code else ""


def parameters(forward: Any) -> list[inspect.Parameter]:
    """The positional parameters of a forward that must be given: those without default, else the first."""
    try:
        every = list(inspect.signature(forward).parameters.values())
    except (TypeError, ValueError):
        return [inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)]
    positional = [p for p in every if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
    required = [p for p in positional if p.default is p.empty]
    return required or positional[:1]
