"""Files on a local disk or in an object store, written whole or not at all."""

from __future__ import annotations

import errno
import os
import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fsspec
from filelock import FileLock, Timeout
from fsspec.implementations.local import LocalFileSystem

from kdata import cache


def put(place: str, data: bytes) -> None:
    """Write a file, making the folders that it lacks; where that is killed, what was there before still is.

    Object stores put a file whole anyway.  fsspec's own transactions are of no use on a local disk: one is shared by
    all threads, and its temporary file is on another disk.  Into a pipe or a device, such as ``/dev/stdout``, the data
    goes as it is: no file may take its place.

    Args:
        place: path or fsspec URL.
        data: what the file is to hold.
    """
    fs, path = fsspec.core.url_to_fs(place)
    if isinstance(fs, LocalFileSystem):
        if _flows(path):
            Path(path).write_bytes(data)
        else:
            cache.put(Path(path), data)
        return
    fs.makedirs(posixpath.dirname(path), exist_ok=True)
    fs.pipe_file(path, data)


def _flows(path: str) -> bool:
    """Whether a pipe or a device is there."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def demand_file(place: str) -> None:
    """Like ``demand_folder``, for a file that is to be written.

    Raises:
        IsADirectoryError: there is a folder of this name.
        NotADirectoryError, PermissionError: as there.
    """
    fs, path = fsspec.core.url_to_fs(place)
    if fs.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), place)
    if isinstance(fs, LocalFileSystem) and not _flows(path):
        demand_folder(os.path.dirname(os.path.realpath(path)))


def demand_folder(place: str) -> None:
    """Find out that a folder is there or can be made, and takes files, before any work goes into what it is to hold.

    Nothing is made. Of an object store nothing is asked: only writing tells.

    Args:
        place: path or fsspec URL.

    Raises:
        NotADirectoryError: a part of the path is a file.
        PermissionError: nothing may be written there, as on a disk that is mounted read-only.
    """
    fs, path = fsspec.core.url_to_fs(place)
    if not isinstance(fs, LocalFileSystem):
        return
    there = next(p for p in (Path(path), *Path(path).parents) if os.path.lexists(p))
    if not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(there))
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(there))


@contextmanager
def alone(place: str) -> Iterator[None]:
    """Keep other runs out of a folder on this disk: two at once do all work twice, and write into each other's files.

    The lock ends with the process, however that ends.

    Raises:
        ValueError: one is there already.
    """
    fs, path = fsspec.core.url_to_fs(place)
    if not isinstance(fs, LocalFileSystem):
        yield
        return
    Path(path).mkdir(parents=True, exist_ok=True)
    lock = FileLock(Path(path) / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise ValueError(f"another run is at work in {place}: wait for it, or name another folder by --out") from error
    try:
        yield
    finally:
        lock.release()
