"""What failed calls, laid side by side, tell of the inputs' dimensions.

Two calls fail at the same operator because two sizes differ, and their inputs differ in one dimension only.  Either the
sizes are the same in both: that dimension has nothing to do with it.  Or they moved: then so much of that dimension
makes so much of the difference, and where there would be none follows (the secant through two points; what is not
linear, a pooling or a square, takes a few steps).  It finds what sizes that are tagged by primes would tell, and needs
no sizes of its own.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sources.infer.forward.failure import APART
from sources.infer.inputs import Specs, Tensor, all_tensors, edited

Place = tuple[tuple[int, ...], tuple[int, ...]]  # a tensor's path, and those of its dimensions that change as one
MAX_SIZE = 4096  # a secant between failures of two kinds leads anywhere
# Messages that tell two sizes that have to be equal.
_PAIRS = [APART, *(re.compile(pattern) for pattern in (
    r"to have (\d+) channels, but got (\d+) channels",
    r"cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)",
    r"Expected size (\d+) but got size (\d+)",
    r"size mismatch, got input \(\d+\), mat \(\d+x(\d+)\), vec \((\d+)\)",
    r"should contain (\d+) elements not (\d+)",
    r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)",
    r"subscript \w+ has size (\d+) for operand \d+ which does not broadcast with previously seen size (\d+)",
    r"sum exactly to (\d+) .*=\[([\d, ]+)\]",
    r"embedding dimension of (\d+), but got (\d+)",
    r"\.shape\[\d+\] to be (\d+), but got (\d+)",
    r"input_size\. Expected (\d+), got (\d+)",
    r"has size (\d+) for operand \d+ which does not broadcast with previously seen size (\d+)",
    r"per channel: \(\d+ x (\d+)\)\. Kernel size: \((\d+) x (?!\2\))(\d+)\)",
    r"expected input with shape \[\*, ?(?:\d+, )*(\d+)\], but got input of size ?\[(?:\d+, )*(\d+)\]",
))]  # fmt: skip
_SHAPE = r"\D*\[(\d+(?:, \d+)*)\]"
_LISTS = [re.compile(pattern) for pattern in (
    rf"(?:to be|Expected){_SHAPE}\D*got{_SHAPE}",
    r"Expected hidden(?:\[\d\])? size \((\d+(?:, \d+)*)\), got \[(\d+(?:, \d+)*)\]",
    rf"shape of the mask{_SHAPE} .* of the indexed tensor{_SHAPE}",
)]  # fmt: skip
_VIEW = re.compile(r"shape '\[(\d+(?:, \d+)*)\]' is invalid for input of size (\d+)")


def differing(message: str) -> tuple[int, int] | None:
    """Two sizes of an error message that have to be equal and are not."""
    for pattern in _PAIRS:
        if match := pattern.search(message):
            one, other = match[1], match[match.lastindex or 2]
            return int(one), sum(map(int, other.split(",")))
    if match := _VIEW.search(message):
        return math.prod(map(int, match[1].split(","))), int(match[2])
    if match := next(filter(None, (pattern.search(message) for pattern in _LISTS)), None):
        pairs = zip(*(map(int, match[i].split(",")) for i in (1, 2)), strict=False)
        return next(((a, b) for a, b in pairs if a != b), None)
    return None


@dataclass(slots=True)
class Influence:
    """Failures of one module's calls, by where they were."""

    _seen: dict[tuple[int, str, str], list[tuple[Specs, int]]] = field(default_factory=lambda: defaultdict(list))
    _idle: dict[tuple[int, str, str], set[Place]] = field(default_factory=lambda: defaultdict(set))

    def learn(self, failure: tuple[int, str, str], specs: Specs, message: str) -> list[Specs]:
        """Inputs without the difference, as far as calls that failed likewise tell; best first.

        ``failure`` is how many functions ran, at which it was, and the message without numbers.
        """
        if (sizes := differing(message)) is None:
            return []
        gap, found = sizes[0] - sizes[1], list[Specs]()
        for other, before in self._seen[failure]:
            if (place := _apart(specs, other)) is None:
                continue
            if gap == before:
                self._idle[failure].add(place)
            else:
                found += _solved(specs, other, place, gap, before)
        self._seen[failure].append((specs, gap))
        return list(dict.fromkeys(found))

    def idle(self, failure: tuple[int, str, str], specs: Specs, other: Specs) -> bool:
        """Whether other inputs differ in nothing but a dimension that does not matter to a failure."""
        known = self._idle.get(failure)
        return bool(known) and _apart(specs, other) in (known or ())


def _apart(specs: Specs, other: Specs) -> Place | None:
    """The one place in which two calls' inputs differ, None if there are several, or differ otherwise."""
    if len(specs) != len(other):
        return None
    place: Place | None = None
    # What an edit leaves as it is stays the same object: of most inputs there is nothing to compare.
    changed = [i for i, (a, b) in enumerate(zip(specs, other, strict=True)) if a is not b]
    ours, theirs = (all_tensors(tuple(of[i] for i in changed)) for of in (specs, other))
    if len(ours) != len(theirs):
        return None
    for (path, t), (path_2, t_2) in zip(ours, theirs, strict=True):
        if t == t_2:
            continue
        alike = (t.kind, t.high, t.low) == (t_2.kind, t_2.high, t_2.low)
        if place or path != path_2 or len(t.shape) != len(t_2.shape) or not alike:
            return None
        at = tuple(i for i, (a, b) in enumerate(zip(t.shape, t_2.shape, strict=True)) if a != b)
        if len({t.shape[i] for i in at}) > 1 or len({t_2.shape[i] for i in at}) > 1:
            return None
        place = (changed[path[0]], *path[1:]), at
    return place


def _solved(specs: Specs, other: Specs, place: Place, gap: int, before: int) -> Iterator[Specs]:
    """The inputs with the size at a place for which two calls promise no gap, on both sides where it is no integer."""
    path, at = place
    t = dict(all_tensors(specs))[path]
    here, there = t.shape[at[0]], dict(all_tensors(other))[path].shape[at[0]]
    size = here - gap * (there - here) / (before - gap)
    for new in dict.fromkeys((round(size), math.floor(size), math.ceil(size))):
        if 0 < new <= MAX_SIZE and new not in (here, there):
            yield edited(specs, path, _with(t, at, new))


def _with(t: Tensor, at: tuple[int, ...], size: int) -> Tensor:
    return replace(t, shape=tuple(size if i in at else n for i, n in enumerate(t.shape)))
