"""Places at which maps are sampled: as many numbers for each as a map has sides, whatever they were guessed to be."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

import torch

from sources.infer.forward.failure import Change, Failure
from sources.infer.inputs import TOKENS, Tensor, all_tensors, edited

_PLACES = re.compile(r"coord|grid|point|pts|pos|loc|uv|flow|cell|ref|xy")


def sampled(f: Failure) -> Iterator[Change]:
    """The input of which a grid was made is a row of places, as others are that were guessed like it, cells perhaps."""
    maps, grid = f.arguments[:2] if len(f.arguments) > 1 else (None, None)
    if f.function not in ("grid_sample", "grid_sampler") or "expected grid to have size" not in f.message:
        return
    if not isinstance(maps, torch.Tensor) or not isinstance(grid, torch.Tensor):
        return
    more, names = grid.dim() - maps.dim(), f.names()
    alike = [(p, t) for p, t in all_tensors(f.specs) if math.prod(t.shape) == grid.numel() and len(t.shape) - more > 1]
    together = f.specs
    for path, t in alike:
        new = replace(t, shape=_row(t, more, maps.dim() - 2))
        named = path[0] < len(names) and _PLACES.search(names[path[0]].lower())
        together = edited(together, path, new) if named else together
        yield f.with_tensor(path, new, 0.1 if named else 0.4)
    if together != f.specs:
        yield 0.0, together


def _row(t: Tensor, more: int, sides: int) -> tuple[int, ...]:
    """The shape of what becomes a grid by so many ``more`` dimensions."""
    within = t.shape[1:-1] if not more else (TOKENS,) * (len(t.shape) - more - 2)
    return (t.shape[0], *within, sides)
