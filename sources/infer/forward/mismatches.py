"""Rules of ``sources.infer.forward.repairs`` for two sizes that are both made from inputs and have to be equal."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from sources.infer.forward.failure import APART, Change, Failure
from sources.infer.forward.windows import MAX_SIDE
from sources.infer.inputs import Specs, Tensor, all_tensors, edited

MAX_JOINED = 4  # steps that are joined to a sequence: a token of its class, the one to be foretold
_AT = re.compile(r"at non-singleton dimension (\d)$")
_JOINED = re.compile(r"Sizes of tensors must match except.* Expected size (\d+) but got size (\d+)")

_STACKED = re.compile(r"stack expects each tensor to be equal size, but got \[([\d, ]+)\] at .* and \[([\d, ]+)\] at")


def stacked(f: Failure) -> Iterator[Change]:
    """Two shapes that are stacked have to be equal: where they differ, inputs of the one size get the other's."""
    match = _STACKED.search(f.message)
    one, other = ([*map(int, shape.split(","))] for shape in match.groups()) if match else ([], [])
    for at, (a, b) in enumerate(zip(one, other, strict=True) if len(one) == len(other) else ()):
        for path, t in all_tensors(f.specs) if a != b else ():
            if len(t.shape) > at and t.shape[at] in (a, b):
                yield f.with_tensor(path, t.resized(at, b if t.shape[at] == a else a), 0.3)


def mismatch(f: Failure) -> Iterator[Change]:
    """Two sizes that must be equal are both made from inputs: one is scaled, or shifted, until they are."""
    match = APART.search(f.message) or _JOINED.search(f.message)
    a, b = (int(match[1]), int(match[2])) if match else (0, 0)
    if min(a, b) < 1:
        yield from _halved(f, a or b) if match else ()
        return
    yield from _maps(f, a, b)
    yield from _laid_out(f, a, b)
    yield from _as_it_is(f, a, b)
    yield from itertools.chain(_joined(f, a - b), _joined(f, b - a))
    for path, t in all_tensors(f.specs):
        if len(t.shape) < 3:
            continue
        last = t.shape[-1] if len(t.shape) > 3 else t.shape[1]
        sides = [last * x // y for x, y in ((a, b), (b, a)) if last * x % y == 0] + [last + a - b, last + b - a]
        for j, side in enumerate(s for s in dict.fromkeys(sides) if s <= MAX_SIDE):
            shape = (*t.shape[:2], *[side] * (len(t.shape) - 2)) if len(t.shape) > 3 else (t.shape[0], side, t.shape[2])
            yield f.with_tensor(path, replace(t, shape=shape), 0.7 + 0.1 * j)
            if len(t.shape) > 4 and t.shape[-1] == t.shape[-2] != t.shape[2]:  # images of several steps, or objects
                yield f.with_tensor(path, replace(t, shape=(*t.shape[:-2], side, side)), 0.6 + 0.1 * j)
        steps = (t.shape[2] * y / x for x, y in ((a, b), (b, a)) if len(t.shape) == 5)  # of so many frames, perhaps
        yield from (f.with_tensor(path, t.resized(2, int(n)), 0.6) for n in steps if n == int(n) <= MAX_SIDE)


def _halved(f: Failure, size: int) -> Iterator[Change]:
    """All of an input went to its first part, ``x[:, :half]``, and nothing is left for the second, which is as long."""
    for path, t in all_tensors(f.specs) if size else ():
        for i, length in enumerate(t.shape):
            if i and length <= size:
                yield f.with_tensor(path, t.resized(i, length + size), 0.3 if length == size else 0.6)


def _as_it_is(f: Failure, a: int, b: int) -> Iterator[Change]:
    """One of the two is an input, or has its shape as what was expanded to it has: its size is to be the other's."""
    at = _AT.search(f.message)
    operands = [x for x in f.arguments[:2] if isinstance(x, torch.Tensor)] if at else []
    rank = max((x.dim() for x in operands), default=0)
    back = int(at[1]) - rank if at else 0
    for x, wanted in zip(operands, (b, a), strict=False) if len(operands) == 2 else ():
        for path, t in f.of_shape(x):
            if len(t.shape) >= -back and t.shape[back] != wanted:
                yield f.with_tensor(path, t.resized(len(t.shape) + back, wanted), 0.35)


def _laid_out(f: Failure, a: int, b: int) -> Iterator[Change]:
    """A map whose places were laid out as a row is to have as many as what the module adds to them: positions."""
    for path, t in all_tensors(f.specs):
        for times in ((a, b), (b, a)) if len(t.shape) == 4 else ():
            if new := _rooted(t.shape[2:], *times):
                yield from f.with_alike(path, replace(t, shape=(*t.shape[:2], *new)), 0.4)


def _maps(f: Failure, a: int, b: int) -> Iterator[Change]:
    """Maps of one size in a list are all to have the sides that others have, or half, or twice as large ones."""
    groups: dict[tuple[int, tuple[int, ...]], list[tuple[tuple[int, ...], Tensor]]] = {}
    for path, t in all_tensors(f.specs):
        if len(path) > 1 and len(t.shape) > 3:
            groups.setdefault((path[0], t.shape[-2:]), []).append((path, t))
    for (_, sides), alike in groups.items():
        for times in ((a, b), (b, a)) if len(alike) > 1 else ():
            specs = f.specs
            new = _rooted(sides, *times) or [n * times[0] // times[1] for n in sides]
            for path, t in alike if min(new) > 0 and max(new) <= MAX_SIDE else ():
                specs = edited(specs, path, replace(t, shape=(*t.shape[:-2], *new)))
            if specs != f.specs:
                yield 0.5, specs


def _rooted(sides: Sequence[int], wanted: int, got: int) -> list[int]:
    """The sides of a square map that was ``got`` long when it was laid out as a row, and is to be ``wanted``."""
    root = math.isqrt(wanted)
    return [root] * len(sides) if sides[0] == sides[-1] and math.prod(sides) == got and root**2 == wanted else []


def _joined(f: Failure, more: int) -> Iterator[Change]:
    """All inputs that have one size at the same place are to have a few ``more``: something is joined to one."""
    every = ((i - len(t.shape), size) for _, t in all_tensors(f.specs) for i, size in enumerate(t.shape) if i)
    for at, size in dict.fromkeys(every) if abs(more) <= MAX_JOINED else ():
        if size + more > 0 and (specs := resized(f.specs, at, size, size + more)):
            yield 0.75, specs


def resized(specs: Specs, at: int, size: int, new: int) -> Specs | None:
    """The inputs with a size changed wherever it is at a place, from the end; None where that is in one at most."""
    alike = [(p, t) for p, t in all_tensors(specs) if len(t.shape) >= -at and t.shape[at] == size]
    for path, t in alike:
        specs = edited(specs, path, t.resized(len(t.shape) + at, new))
    return specs if len(alike) > 1 else None
