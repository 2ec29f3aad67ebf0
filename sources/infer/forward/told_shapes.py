"""Rules of ``sources.infer.forward.repairs`` for messages that tell whole shapes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from sources.infer.forward.failure import VIEWED, Change, Failure
from sources.infer.inputs import Plain, all_tensors


def expected(f: Failure) -> Iterator[Change]:
    """A message that tells a whole shape: ``Expected hidden size (2, 4, 128), got [4, 64, 32]``.

    An input may have been given a first dimension of one before.
    """
    shape = r"[^(\[]*[(\[]([\d, ]+)[)\]]"
    match = re.search(rf"[Ee]xpected [^(\[]*(?:\[\d\])?{shape},? (?:but )?got {shape}", f.message)
    if not match:
        return
    wanted, got = map(_sizes, match.groups())
    meant = {got: wanted} | ({got[1:]: wanted[1:]} if got[:1] == wanted[:1] == (1,) else {})
    for path, t in all_tensors(f.specs):
        if new := meant.get(t.shape):
            yield f.with_tensor(path, replace(t, shape=new), 0.0)


def among(f: Failure) -> Iterator[Change]:
    """An input whose shape a message tells may have to have another one that it tells."""
    texts = re.findall(r"[\[(](\d+(?:, ?\d+)*,?)[\])]", f.message)
    told = [*map(_sizes, dict.fromkeys(texts))][:4]
    for path, t in all_tensors(f.specs):
        if t.shape in told:
            yield from (f.with_tensor(path, replace(t, shape=other), 0.7) for other in told if other != t.shape)


def kept(f: Failure) -> Iterator[Change]:
    """What is kept by shape is looked up by another: part of an input was taken, which is to be all of it.

    ``grids[str(flow.shape)]``, where ``flow`` was left with two channels.
    """
    match = re.fullmatch(r"KeyError: ['\"]?(?:torch\.Size\()?[(\[]([\d, ]+)[)\]]\)?['\"]?", f.message)
    wanted = _sizes(match[1]) if match else ()
    for path, t in all_tensors(f.specs):
        if len(t.shape) == len(wanted) and sum(a != b for a, b in zip(t.shape, wanted, strict=True)) == 1:
            yield f.with_tensor(path, replace(t, shape=wanted), 0.0)


def square(f: Failure) -> Iterator[Change]:
    """A sequence is laid out by sides that are given as numbers, ``x.view(h, w, batch, -1)``: its own are wanted."""
    match = VIEWED.search(f.message)
    wanted, size = ([*map(int, match[1].split(","))], int(match[2])) if match else ([], 0)
    for i, spec in enumerate(f.specs):
        sides = [*spec.value] if isinstance(spec, Plain) and isinstance(spec.value, tuple) else []
        at = next((j for j in range(len(wanted)) if wanted[j : j + 2] == sides), None) if len(sides) == 2 else None
        if at is None:
            continue
        rest = math.prod(n for n in [*wanted[:at], *wanted[at + 2 :]] if n > 0)
        side = math.isqrt(size // max(1, rest))
        if side * side * rest == size and side > 1:
            yield f.with_tensor((i,), Plain((side, side)), 0.0)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.split(",") if n.strip())


SHAPES: tuple[Callable[[Failure], Iterator[Change]], ...] = (expected, among, kept, square)
