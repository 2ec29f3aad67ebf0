"""Which of many dictionaries were changed since, found by reading their memory as bytes. In children only.

To look at a value in Python is to count a reference to it, and in a forked child that copies the page it lies on: for
the 130,000 names that candidates must leave as they are, 14,000 pages and 80 ms.  Bytes are read without a trace.
Where all pointers of a dictionary's table are what they were, its names and values are the same objects, as these are
held.

Source: CPython's Include/cpython/dictobject.h and Include/internal/pycore_dict.h, 3.11 to 3.13.  Whether the memory
looks as they say is tried; if not, every dictionary counts as changed, and its names are looked at one by one.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

HEAD, POINTERS = 32, 16  # where an object holds the addresses of its table and of values kept apart, and their bytes
SKIPPED = 16  # bytes at a table's start: references to it, its form, and a version that interpreters note late
GARBAGE = 16  # bytes that sys.getsizeof counts and that lie before the object


class Watched:
    """Dictionaries, which somebody else must keep from being freed, and their bytes as they were."""

    def __init__(self, dictionaries: Sequence[dict[Any, Any]]) -> None:
        self._count = len(dictionaries)
        self._readable = _readable()
        found = dictionaries if self._readable else ()
        self._apart = {place for place, d in enumerate(found) if _apart(d)}
        self._heads = [_view(id(d) + HEAD, POINTERS) for d in found]
        self._full = [place for place, d in enumerate(found) if _size(d)]
        self._tables = [_view(_table(found[place]) + SKIPPED, _size(found[place])) for place in self._full]
        self._held_heads, self._held_tables = b"".join(self._heads), b"".join(self._tables)
        self._bounds = range(0, len(self._held_heads) + 1, POINTERS)
        self._ends = [0, *accumulate(map(len, self._tables))]

    def changed(self) -> Iterable[int]:
        """The places of those that may hold other names or other objects now, in order."""
        if not self._readable:
            return range(self._count)
        heads = b"".join(self._heads)
        moved = self._apart | set(_differing(heads, self._held_heads, self._bounds))
        if moved.isdisjoint(self._full):
            tables = b"".join(self._tables)
        else:  # theirs may be freed
            whole = zip(self._full, self._tables, strict=True)
            tables = b"".join(bytes(len(table)) if place in moved else table for place, table in whole)
        written = _differing(tables, self._held_tables, self._ends)
        return sorted(moved | {self._full[number] for number in written})


def _differing(now: bytes, then: bytes, bounds: Sequence[int]) -> Iterator[int]:
    """The parts between two bounds in which the bytes differ; sought by halves, for mostly none does."""
    parts = [(0, len(bounds) - 1)]
    while parts:
        low, high = parts.pop()
        if now[bounds[low] : bounds[high]] == then[bounds[low] : bounds[high]]:
            continue
        if high - low == 1:
            yield low
        else:
            parts += [(low, (low + high) // 2), ((low + high) // 2, high)]


def _view(address: int, size: int) -> ctypes.Array[ctypes.c_char]:
    return (ctypes.c_char * size).from_address(address)


def _table(dictionary: dict[Any, Any]) -> int:
    """The address of the table of a dictionary."""
    return int.from_bytes(bytes(_view(id(dictionary) + HEAD, POINTERS))[:8], sys.byteorder)


def _size(dictionary: dict[Any, Any]) -> int:
    """Bytes of its table that are watched; none of an empty one's, which all empty ones share."""
    return max(0, sys.getsizeof(dictionary) - dict.__basicsize__ - GARBAGE - SKIPPED)


def _apart(dictionary: dict[Any, Any]) -> bool:
    """Whether its values do not lie in its table."""
    return any(bytes(_view(id(dictionary) + HEAD, POINTERS))[8:]) or (len(dictionary) > 0 and not _size(dictionary))


def _readable() -> bool:
    """Whether changes show in the memory of dictionaries, and nothing else does: tried with both kinds of tables."""
    if sys.implementation.name != "cpython" or dict.__basicsize__ != HEAD + POINTERS:
        return False
    return all(_shows(dict.fromkeys(names, one)) for one in [object()] for names in (["a", "b"], ["a", 1]))


def _shows(tried: dict[Any, Any]) -> bool:
    held, value = _bytes(tried), tried["a"]
    shown = [not _apart(tried), _bytes(tried) == held]
    tried["a"] = object()
    shown.append(_bytes(tried) != held)
    tried["a"] = value
    shown.append(_bytes(tried) == held)
    tried["new"] = value
    shown.append(_bytes(tried) != held)
    del tried["new"]
    tried["a"] = None
    return all([*shown, _bytes(tried) != held])


def _bytes(dictionary: dict[Any, Any]) -> tuple[bytes, bytes]:
    head, table = _view(id(dictionary) + HEAD, POINTERS), _view(_table(dictionary) + SKIPPED, _size(dictionary))
    return bytes(head), bytes(table)
