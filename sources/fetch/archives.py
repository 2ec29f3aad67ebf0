"""Reading wheels, zips and tarballs in memory: nothing is unpacked to disk, so no path or link can lead astray."""

from __future__ import annotations

import io
import posixpath
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sources.fetch.licences import LICENCE_NAMES
from sources.fetch.texts import MAX_FILE, MAX_FILES, MAX_TOTAL, SourceError, wanted

MAX_MEMBERS = 500_000
MAX_UNPACKED = 1 << 30  # bytes that a tarball may decompress to while it is read through
_TARS = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar")


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive; ``problem`` says why it was not read."""

    path: str
    data: bytes = b""
    problem: str = ""


def members(archive: bytes, name: str, chosen: Callable[[str], bool] = wanted) -> list[Member]:
    """The ``chosen`` files of an archive, Python ones unless told otherwise, with licence texts and metadata.

    Raises:
        SourceError: it is no archive, damaged, or larger than the limits.
    """
    reader = _tar if name.endswith(_TARS) else _zip
    found, total = [], 0
    try:
        for member in reader(archive, chosen):
            total += len(member.data)
            found.append(member)
            if total > MAX_TOTAL or len(found) > MAX_FILES:
                raise SourceError(f"{name} holds more than {MAX_FILES} files or {MAX_TOTAL >> 20} MB of source")
    except (
        zipfile.BadZipFile,
        zlib.error,
        tarfile.TarError,
        EOFError,
        OSError,
        ValueError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise SourceError(f"{name} is not a readable archive: {error}") from error
    return found


class Archive:
    """The Python files of an archive, of which a wheel's are unpacked one at a time."""

    def __init__(self, data: bytes, name: str) -> None:
        """Look at what there is.

        Raises:
            SourceError: it is no archive, damaged, or larger than the limits.
        """
        self._zip: zipfile.ZipFile | None = None
        self._data: dict[str, bytes] = {}
        if name.endswith(_TARS):
            self._data = {m.path: m.data for m in members(data, name) if m.path.endswith(".py") and not m.problem}
            self.paths = list(self._data)
            return
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise SourceError(f"{name} is not a readable archive: {error}") from error
        names = self._zip.namelist()
        if len(names) > MAX_MEMBERS:
            raise SourceError(f"an archive of {len(names)} members")
        self.paths = [n for n in names if n.endswith(".py") and wanted(n) and not _problem(n, 0, False)]

    def read(self, path: str) -> bytes:
        """The bytes of one of its paths; none where they are damaged, or more than a file may have."""
        if self._zip is None:
            return self._data[path]
        try:
            with self._zip.open(path) as stream:
                data = stream.read(MAX_FILE + 1)  # the header's size may lie
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError):
            return b""
        return data if len(data) <= MAX_FILE else b""


def _zip(archive: bytes, chosen: Callable[[str], bool]) -> Iterator[Member]:
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        if len(file.infolist()) > MAX_MEMBERS:
            raise SourceError(f"an archive of {len(file.infolist())} members")
        for info in file.infolist():
            if info.is_dir() or not _needed(info.filename, chosen):
                continue
            link = (info.external_attr >> 16) & 0o170000 == 0o120000
            if problem := _problem(info.filename, info.file_size, link):
                yield Member(info.filename, problem=problem)
                continue
            with file.open(info) as stream:
                data = stream.read(MAX_FILE + 1)  # the header's size may lie
            yield (
                Member(info.filename, data)
                if len(data) <= MAX_FILE
                else Member(info.filename, problem="file too large")
            )


def _tar(archive: bytes, chosen: Callable[[str], bool]) -> Iterator[Member]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as file:
        unpacked = 0
        for count, info in enumerate(file):
            unpacked += info.size
            if count > MAX_MEMBERS or unpacked > MAX_UNPACKED:
                raise SourceError("an archive that unpacks to more than the limit")
            path = info.name.partition("/")[2]  # a source distribution has one folder around all
            if info.isdir() or not _needed(path, chosen):
                continue
            if problem := _problem(path, info.size, not info.isfile()):
                yield Member(path, problem=problem)
            elif (stream := file.extractfile(info)) is not None:
                yield Member(path, stream.read(MAX_FILE + 1))


def _needed(path: str, chosen: Callable[[str], bool]) -> bool:
    base = posixpath.basename(path)
    return chosen(path) or bool(LICENCE_NAMES.match(base)) or base in ("METADATA", "PKG-INFO")


def _problem(path: str, size: int, link: bool) -> str:
    if link:
        return "link"
    if path.startswith("/") or ".." in path.split("/") or "\\" in path:
        return "unsafe path"
    return "file too large" if size > MAX_FILE else ""
