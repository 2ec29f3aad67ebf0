"""Inputs that are too small for a window that slides over them: what to enlarge is what the message tells."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import replace

from sources.infer.forward.failure import VIEWED, Change, Failure
from sources.infer.inputs import Tensor, all_tensors

MAX_SIDE = 256
HALVED = 32  # by how much a network for images divides their sides, as a rule
MAX_SAMPLES = 1 << 15  # of a sound
LONGER = 2  # times as long is what takes several windows, one after another, which each leave less
FRAMES, MAX_WAVE = 3, 1 << 16  # how many times what is too long for it a wave is to be, and no longer than this
MAX_SCALE = 8  # times as large, or as small, as the sides of images that are laid out as rows
_DEMANDED = re.compile(
    r"(?:must|should|has to|expected to) be (?:of size )?[(\[]?(\d+)(?:, ?| ?[x*] ?)(\d+)\b(?! ?[x*,])"
)
_CONVOLVED = re.compile(r"input size per channel: \((\d+ x [\d x]+)\)\. Kernel size: \(([\d x]+)\)")
_VOLUME = re.compile(
    r"input image \(T: (\d+) H: (\d+) W: (\d+)\) smaller than kernel size \(kT: (\d+) kH: (\d+) kW: (\d+)\)"
)


def window(f: Failure) -> Iterator[Change]:
    """A window that is larger than what comes to it tells by how much."""
    pooled = re.search(r"input size: \(\d+x(\d+)x\d+\)\. Calculated output size: \(\d+x(-?\d+)x", f.message)
    padded = re.search(r"input size per channel: \((\d+)(?: x \d+)*\)\. Kernel size: \((\d+)", f.message)
    if pooled:
        got, wanted = int(pooled[1]), max(int(pooled[1]) + 1 - int(pooled[2]), _side(f))
    elif padded:
        got, wanted = int(padded[1]), int(padded[2])
    else:
        return
    for path, t in all_tensors(f.specs):
        side = t.shape[-1] * wanted // max(1, got) if len(t.shape) >= 3 else 0
        if side > 2 * MAX_SIDE:  # borders without padding left so little of it: further on they take no more
            side = t.shape[-1] + HALVED * (wanted - got)
        if t.shape[-1:] < (side,) <= (2 * MAX_SIDE,):
            batch = 1 if side >= MAX_SIDE // 2 else t.shape[0]
            yield from f.with_alike(path, Tensor((batch, t.shape[1], *[side] * (len(t.shape) - 2)), t.kind), 0.2)
        length = LONGER * t.shape[1] * wanted // max(1, got) if len(t.shape) == 3 else 0
        if t.shape[1:2] < (length,) <= (MAX_WAVE,):  # sequences that are turned before they are convolved
            yield from f.with_alike(path, t.resized(1, length), 0.4)


def _side(f: Failure) -> int:
    """Of the window that slides over the last function's argument, 0 where it is not given by its place."""
    given = f.arguments[1] if len(f.arguments) > 1 else 0
    side = given[0] if isinstance(given, tuple | list) and given else given
    return side if isinstance(side, int) else 0


def sides(f: Failure) -> Iterator[Change]:
    """The same of each side by itself: a spectrum, or half an image, is not square. Of images one after another few."""
    if (match := _CONVOLVED.search(f.message)) is None:
        return
    got, wanted = ([int(n) for n in text.split(" x ")] for text in match.groups())
    for path, t in all_tensors(f.specs) if min(got) else ():
        more = len(t.shape) - len(got)
        last = [n * -(-max(a, b) // a) for n, a, b in zip(t.shape[more:], got, wanted, strict=False)]
        if more >= 2 and max(last) <= 2 * MAX_SIDE:
            new = replace(t, shape=(*t.shape[:2], *(min(n, 2) for n in t.shape[2:more]), *last))
            yield from f.with_alike(path, new, 0.1)


def volume(f: Failure) -> Iterator[Change]:
    """The same where a message tells all three sides: those of a clip are not alike."""
    if (match := _VOLUME.search(f.message)) is None:
        return
    got, wanted = (tuple(map(int, match.groups()[i : i + 3])) for i in (0, 3))
    for path, t in all_tensors(f.specs) if min(got) else ():
        if len(t.shape) >= 5:
            sides = [min(MAX_SIDE, n * max(a, b) // a) for n, a, b in zip(t.shape[-3:], got, wanted, strict=True)]
            yield f.with_tensor(path, replace(t, shape=(*(min(n, 2) for n in t.shape[:-4]), t.shape[-4], *sides)), 0.1)


def frames(f: Failure) -> Iterator[Change]:
    """A wave that is too short for its padding, or for the frames of a spectrum, tells how long these are."""
    padded = re.search(r"padding \((\d+), (\d+)\) at dimension \d+ of input \[[\d, ]*?(\d+)\]", f.message)
    framed = re.search(r"expected 0 < n_fft < (\d+), but got n_fft=(\d+)", f.message)
    match = padded or framed
    if match is None:
        return
    got, least = int(match[match.lastindex or 1] if padded else match[1]), int(match[1] if padded else match[2])
    length = 1 << (FRAMES * least).bit_length()
    for path, t in all_tensors(f.specs):
        if t.shape and t.shape[-1] <= got and length <= MAX_WAVE:
            yield f.with_tensor(path, t.resized(len(t.shape) - 1, length), 0.2 if t.shape[-1] == got else 0.6)


def _viewed(f: Failure) -> tuple[list[int], int]:
    """The shape that a view was to have, and how many elements there are; none of another failure."""
    match = VIEWED.search(f.message)
    return ([int(n) for n in match[1].split(",")], int(match[2])) if match else ([], 0)


def series(f: Failure) -> Iterator[Change]:
    """What a dimension of one is added to, ``x.view(-1, 1, steps, variables)``, tells what it is."""
    wanted, _ = _viewed(f)
    own = [n for n in wanted[1:] if n > 1]
    for path, t in all_tensors(f.specs) if wanted[:1] == [-1] and 1 in wanted and len(own) > 1 else ():
        yield f.with_tensor(path, replace(t, shape=(*t.shape[:1], *own)), 0.2)


def flattened(f: Failure) -> Iterator[Change]:
    """Maps that are laid out as one row, ``x.view(-1, 256 * 6 * 6)``, tell by how much an image is off."""
    wanted, size = _viewed(f)
    if len(wanted) != 2:
        return
    row = math.prod(n for n in wanted if n > 0)
    for path, t in all_tensors(f.specs):
        count = len(t.shape) - 2
        share = size / t.shape[0] if -1 in wanted and t.shape[0] else size
        scale = (row / share) ** (1 / count) if count > 1 and share else 1
        # What is folded again and again grows late: a side of two is one of three from where it would be four on.
        for i, power in enumerate((1.0, 2.0, 0.5) if scale != 1 and 1 / MAX_SCALE < scale < MAX_SCALE else ()):
            last = [round(n * scale**power) for n in t.shape[2:]]
            if min(last) > 0 and max(last) <= MAX_SIDE:
                yield from f.with_alike(path, replace(t, shape=(*t.shape[:2], *last)), 0.3 + 0.1 * i)


def demanded(f: Failure) -> Iterator[Change]:
    """Sides that a check of the program itself asks for: ``raise ValueError("input size must be (299, 299)")``."""
    if (match := _DEMANDED.search(f.message)) is None:
        return
    last = tuple(map(int, match.groups()))
    for path, t in all_tensors(f.specs) if max(last) <= 2 * MAX_SIDE else ():
        if len(t.shape) == 4:
            yield f.with_tensor(path, replace(t, shape=(*t.shape[:2], *last)), 0.1)


def longer(f: Failure, path: tuple[int, ...], t: Tensor) -> Iterator[Change]:
    """Samples of a sound, perhaps, are to be more: those of a row, or of one or two channels."""
    alone = {2: (1,), 3: (2, 1)}.get(len(t.shape), ()) if t.kind == "float" else ()
    rows = [i for i in alone if len(t.shape) == 2 or t.shape[-i] <= 2]
    for at, (j, times) in itertools.product(rows, enumerate((8, 64, 1 << 10, 1 << 13))):
        if t.shape[at] * times <= MAX_SAMPLES:
            yield f.with_tensor(path, t.resized(at, t.shape[at] * times), 0.8 + 0.1 * j)


def strided(f: Failure) -> Iterator[Change]:
    """There are to be several of what strides left one of, however short an input was."""
    if re.search(r"cannot be multiplied \(\d+x1 and (?!1x)|Expected size \d+ but got size 1 for", f.message):
        for path, t in all_tensors(f.specs):
            yield from longer(f, path, t)


WINDOWS = (sides, window, volume, frames, series, flattened, demanded, strided)
