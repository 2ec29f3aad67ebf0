"""Files on a local disk or in an object store, written whole or not at all."""

from __future__ import annotations

import posixpath
from pathlib import Path

import fsspec
from fsspec.implementations.local import LocalFileSystem

from kdata import cache


def put(place: str, data: bytes) -> None:
    """Write a file, making the folders that it lacks; where that is killed, what was there before still is.

    Object stores put a file whole anyway.  fsspec's own transactions are of no use on a local disk: one is shared by
    all threads, and its temporary file is on another disk.

    Args:
        place: path or fsspec URL.
        data: what the file is to hold.
    """
    fs, path = fsspec.core.url_to_fs(place)
    if isinstance(fs, LocalFileSystem):
        cache.put(Path(path), data)
        return
    fs.makedirs(posixpath.dirname(path), exist_ok=True)
    fs.pipe_file(path, data)
