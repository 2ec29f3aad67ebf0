"""Some programs of a large grid, in place of all: a launch at a task's own sizes costs an interpreter too much.

In the host's child.  Only what the chosen programs wrote can be looked at afterwards, so it is noted where they wrote.
Where their time is over before they are, those that ended are what was chosen; the first and the last two come first.
Of several launches a program counts if all that it loads was given, or stored by one that counts: it does not know what
the others have left. What it stored counts where no later launch stored of which some programs did not run.
"""

from __future__ import annotations

import math
import random
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import torch
from torch import from_numpy
from torch.utils._pytree import tree_map_only
from triton.runtime import interpreter

TRACED = 16  # programs of a launch up to which it is asked what they load
SLOW = "some of its programs take too long"
Array = np.ndarray[Any, np.dtype[Any]]
_named: list[int] = []
_most = 0  # programs of one launch; 0: all
_chosen: list[list[int]] = []  # program numbers of each dimension of the running grid
_written: list[Array] = []  # addresses
_spared: list[Array] = []  # addresses in stores that their masks leave as they are
_writers: list[int] = []  # the program that stored each of these, counted
_atomic = False
_given: list[tuple[int, int]] = []  # memory that the running call was given
_begun: list[int] = []  # of each launch, how many programs had run before it
_unsure: list[tuple[int, int]] = []  # memory of which the running launch cannot know what others would have left there
_settled: Array = np.empty(0, np.int64)  # addresses at which programs of earlier launches that count have stored
_misled: set[int] = set()  # programs that do not count
_replaced: list[tuple[int, list[tuple[int, int]]]] = []  # launches, counted, and memory where not all of one stored
_anywhere: list[tuple[int, int]] = []  # memory of launches of which it is not known where others would have stored
_ran = 0  # programs
_ends: list[int] = []  # of these, counted, such as are the last of a dimension that is gone through in places
_until = math.inf  # by the clock that only goes on: when they are to end
_late = False  # they were ended
_slow = False  # before one of a launch was


class LateError(Exception):
    """A program has run for as long as it may."""


class Few:
    """A grid's dimension that is gone through in places only."""

    def __init__(self, size: int, count: int) -> None:
        inner = random.Random(size).sample(range(1, size - 2), count - 3) if count > 3 else []
        inner += [place for place in _named if 0 < place < size - 1 and count > 2]
        self.size = size
        self.places = (
            [*dict.fromkeys((0, size - 1, *[size - 2] * (count > 2), *sorted(inner)))] if count > 1 else [size - 1]
        )

    def __index__(self) -> int:
        return len(self.places)


def install() -> None:
    """Once a process, after the interpreter is mended."""
    np.setdiff1d(_settled, _settled)  # numpy loads what it needs for it
    builder: Any = interpreter.InterpreterBuilder
    dimensions, step = builder.set_grid_dim, builder.set_grid_idx
    load, store = builder.create_masked_load, builder.create_masked_store
    rmw, cas = builder.create_atomic_rmw, builder.create_atomic_cas

    def set_grid_dim(self: Any, *sizes: Any) -> None:
        _chosen[:] = [s.places if isinstance(s, Few) else [] for s in sizes]
        dimensions(self, *(s.size if isinstance(s, Few) else s for s in sizes))

    def set_grid_idx(self: Any, *place: int) -> None:
        global _ran
        _hurry(0)
        _ran += 1
        chosen = [places[n] if places else n for n, places in zip(place, _chosen, strict=True)]
        if any(len(places) > 1 and n == max(places) for n, places in zip(chosen, _chosen, strict=True)):
            _ends.append(_ran)
        step(self, *chosen)

    def create_masked_load(self: Any, *arguments: Any, **named: Any) -> Any:
        _hurry()
        if _unsure and _ran not in _misled:
            _look(arguments[0].data, arguments[1].data)
        return load(self, *arguments, **named)

    def create_masked_store(self: Any, pointers: Any, value: Any, mask: Any, *more: Any) -> Any:
        _hurry()
        if _most:
            stored = np.broadcast_to(mask.data, pointers.data.shape).astype(bool)
            _written.append(pointers.data[stored].reshape(-1).astype(np.int64))
            _writers.append(_ran)
            if not stored.all():
                _spared.append(pointers.data[~stored].reshape(-1).astype(np.int64))
        return store(self, pointers, value, mask, *more)

    def atomic(original: Any) -> Any:
        def method(self: Any, *arguments: Any) -> Any:
            global _atomic
            _atomic = True
            return original(self, *arguments)

        return method

    builder.set_grid_dim, builder.set_grid_idx, builder.create_masked_store = (
        set_grid_dim, set_grid_idx, create_masked_store,
    )  # fmt: skip
    builder.create_masked_load = create_masked_load
    builder.create_atomic_rmw, builder.create_atomic_cas = atomic(rmw), atomic(cas)


def _hurry(running: int = 1) -> None:
    """Ask a program whether there is time left; how many are ``running`` that do not count where there is none.

    Raises:
        LateError: there is none.
    """
    global _late, _ran
    if _most and time.monotonic() > _until:
        _late = True
        _ran -= running
        raise LateError


def sample(programs: int, named: Sequence[int] = (), until: float = math.inf) -> None:
    """Run so many programs of each launch from here on, and those that the text ``named``; 0: all of them.

    ``until``: when these are to end, by the clock that only goes on.
    """
    global _most, _atomic, _ran, _until, _late, _slow
    _most, _atomic, _ran, _until, _late, _slow = programs, False, 0, until, False, False
    _named[:] = named
    for kept in (_written, _spared, _writers, _given, _begun, _unsure, _misled, _replaced, _anywhere, _ends):
        kept.clear()


def active() -> bool:
    """Whether launches are sampled now."""
    return _most > 0


def give(ranges: Sequence[tuple[int, int]]) -> None:
    """Note the memory that the next call is given."""
    _given[:] = ranges


def _look(pointers: Array, mask: Array) -> None:
    """Note whether the running program loads what it cannot know; of very many programs none does."""
    if _most > TRACED:
        _misled.add(_ran)
        return
    places = pointers[np.broadcast_to(mask, pointers.shape).astype(bool)].reshape(-1).astype(np.int64)
    for first, end in _unsure:
        inside = places[_inside(places, (first, end))]
        if inside.size and not _among(inside, _settled):
            own = [a for a, writer in zip(_written, _writers, strict=True) if writer == _ran]
            if not _among(inside, np.sort(np.concatenate([_settled, *own]))):
                _misled.add(_ran)
                return


def _among(places: Array, ordered: Array) -> bool:
    """Whether all of these addresses are among those in order."""
    if not ordered.size:
        return False
    return bool((ordered[np.searchsorted(ordered, places).clip(max=ordered.size - 1)] == places).all())


def _stored() -> dict[bool, Array]:
    """Addresses at which programs that count have stored last, and at which others have, or might have."""
    found = {True: np.empty(0, np.int64), False: np.empty(0, np.int64)}
    left = list(_replaced)

    def replace_before(launch: int) -> None:
        while left and left[0][0] <= launch:
            for memory in left.pop(0)[1]:
                inside = _inside(found[True], memory)
                found[False] = np.concatenate([found[False], found[True][inside]])
                found[True] = found[True][~inside]

    pairs = zip(_writers, _written, strict=True)
    for (counts, launch), group in groupby(pairs, lambda pair: (pair[0] not in _misled, bisect_left(_begun, pair[0]))):
        replace_before(launch)
        addresses = np.concatenate([stored for _, stored in group])
        found[counts] = np.concatenate([found[counts], addresses])
        if found[not counts].size:
            found[not counts] = np.setdiff1d(found[not counts], addresses)
    replace_before(len(_begun))
    return found


def _inside(places: Array, memory: tuple[int, int]) -> Array:
    """Which addresses are in a range of memory."""
    inside: Array = (places >= memory[0]) & (places < memory[1])
    return inside


def _end(ranges: Sequence[tuple[int, int]], written: int, spared: int) -> None:
    """A launch ends that was given this memory, and began when there were so many stores.

    Where programs of it did not run, they would have stored where those did that ran: what was there before is not what
    they leave.  Where some stored nothing that ran, as only rows that are asked for are, that may be anywhere.
    """
    if not _late and not any(_chosen):
        return
    if _ran - _begun[-1] > len(set(_writers[written:])):
        _anywhere.extend(ranges)
        _replaced.append((len(_begun), [*ranges]))
        return
    stored = [np.empty(0, np.int64), *_written[written:], *_spared[spared:]]
    places = np.concatenate(stored)
    _replaced.append((len(_begun), [memory for memory in ranges if _inside(places, memory).any()]))


def _begin(ranges: Sequence[tuple[int, int]]) -> None:
    """A launch begins that is given this memory: of the first of a call nothing is unsure, of others what is made."""
    global _settled
    _unsure.clear()
    if _begun:
        stored = _stored()
        _settled = np.sort(stored[True])
        touched = np.concatenate([*stored.values()])
        _unsure.extend(r for r in ranges if not _is_given(r, touched))
    _begun.append(_ran)


def _is_given(memory: tuple[int, int], touched: Array) -> bool:
    """Whether it was given, and no program has stored there, or might have."""
    first, end = memory
    if any(low < end and first < high for low, high in _anywhere):
        return False
    inside = any(low <= first and end <= high for low, high in _given)
    return inside and not _inside(touched, memory).any()


def launch(run: Callable[[], Any], ranges: Sequence[tuple[int, int]]) -> None:
    """Run a launch, as far as there is time: what a program has stored that did not end is nobody's.

    ``ranges``: the memory that it may touch.

    Raises:
        LateError: none of its programs ended.
        Exception: whatever it raises.
    """
    global _slow
    if _most:
        _begin(ranges)
    begun, written, spared = _ran, len(_written), len(_spared)
    try:
        run()
    except Exception:
        if not _late:
            raise
        while _writers and _writers[-1] > _ran:
            _writers.pop()
            _written.pop()
        while _ends and _ends[-1] > _ran:
            _ends.pop()
        if _ran == begun:
            _slow = True
            raise LateError from None
    if _most:
        _end(ranges, written, spared)


def slow() -> bool:
    """Whether there was a launch of which no program ended in time."""
    return _slow


def thinned(extent: list[int]) -> Any:
    """The grid of a launch: of this extent, or fewer programs of it."""
    if not _most or np.prod(extent) <= _most:
        return tuple(extent)
    share = _most
    counts: list[tuple[int, int, int]] = []
    for left, size in sorted(enumerate(extent), key=lambda pair: pair[1]):
        fair = round(share ** (1 / (len(extent) - len(counts))))
        counts.append((left, size, max(1, min(size, fair))))
        share = max(1, share // counts[-1][2])
    return tuple(Few(size, count) if count < size else size for _, size, count in sorted(counts))


def report(outputs: Any, write: Callable[[Any], Any]) -> dict[str, Any]:
    """Where programs that count have stored something last, or spared it, and how many these were.

    And what one of them stored at most, of which launches some count, and how many are the last ones of a dimension,
    which may have little to do.
    """
    stored = _stored()
    masks, spared = (write(tree_map_only(torch.Tensor, partial(touched, by=by), outputs))
                     for by in ([stored[True]], _spared))  # fmt: skip
    plain = isinstance(outputs, torch.Tensor) and outputs.is_contiguous()  # else no program's share is known: 0
    counting = set(_writers) - _misled if stored[True].size else set()
    told = [any(begun < writer <= end for writer in counting) for begun, end in pairwise([*_begun, _ran])]
    return {"written": masks, "spared": spared, "programs": _ran, "told": told,
            "ends": len(_ends),
            "most": most_written(outputs) if plain else 0}  # fmt: skip


def most_written(tensor: torch.Tensor) -> int:
    """Elements of a contiguous tensor that one program has stored at most, each counted as often as it was stored."""
    first, end = tensor.data_ptr(), tensor.data_ptr() + tensor.numel() * tensor.element_size()
    counts: Counter[int] = Counter()
    for program, addresses in zip(_writers, _written, strict=True):
        counts[program] += int(((addresses >= first) & (addresses < end)).sum())
    return max(counts.values(), default=0)


def touched(tensor: torch.Tensor, by: list[Array]) -> torch.Tensor | None:
    """A byte for each element of a tensor: 1 for those at some addresses; None where that does not tell its value."""
    if _atomic:
        return None
    size = tensor.element_size()
    span = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True)) if tensor.numel() else 0
    memory = np.zeros(span, np.uint8)
    for addresses in by:
        places = (addresses - tensor.data_ptr()) // size
        memory[places[(places >= 0) & (places < span)]] = 1
    return torch.as_strided(from_numpy(memory), tensor.shape, tensor.stride()).contiguous()
