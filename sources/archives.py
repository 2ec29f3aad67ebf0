"""Reading wheels, zips and tarballs in memory: nothing is unpacked to disk, so no path or link can lead astray."""

from __future__ import annotations

import io
import posixpath
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

from sources.licences import LICENCE_NAMES
from sources.texts import MAX_FILE, MAX_FILES, MAX_TOTAL, SourceError, wanted

MAX_MEMBERS = 500_000
MAX_UNPACKED = 4 << 30  # bytes that a tarball may decompress to while it is read through


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive; ``problem`` says why it was not read."""

    path: str
    data: bytes = b""
    problem: str = ""


def members(archive: bytes, name: str) -> list[Member]:
    """The Python files, licence texts and metadata of an archive.

    Raises:
        SourceError: it is no archive, damaged, or larger than the limits.
    """
    reader = _tar if name.endswith((".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar")) else _zip
    found, total = [], 0
    try:
        for member in reader(archive):
            total += len(member.data)
            found.append(member)
            if total > MAX_TOTAL or len(found) > MAX_FILES:
                raise SourceError(f"{name} holds more than {MAX_FILES} files or {MAX_TOTAL >> 20} MB of source")
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        EOFError,
        OSError,
        ValueError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise SourceError(f"{name} is not a readable archive: {error}") from error
    return found


def _zip(archive: bytes) -> Iterator[Member]:
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        if len(file.infolist()) > MAX_MEMBERS:
            raise SourceError(f"an archive of {len(file.infolist())} members")
        for info in file.infolist():
            if info.is_dir() or not _needed(info.filename):
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


def _tar(archive: bytes) -> Iterator[Member]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as file:
        unpacked = 0
        for count, info in enumerate(file):
            unpacked += info.size
            if count > MAX_MEMBERS or unpacked > MAX_UNPACKED:
                raise SourceError("an archive that unpacks to more than the limit")
            path = info.name.partition("/")[2]  # a source distribution has one folder around all
            if info.isdir() or not _needed(path):
                continue
            if problem := _problem(path, info.size, not info.isfile()):
                yield Member(path, problem=problem)
            elif (stream := file.extractfile(info)) is not None:
                yield Member(path, stream.read(MAX_FILE + 1))


def _needed(path: str) -> bool:
    base = posixpath.basename(path)
    return wanted(path) or bool(LICENCE_NAMES.match(base)) or base in ("METADATA", "PKG-INFO")


def _problem(path: str, size: int, link: bool) -> str:
    if link:
        return "link"
    if path.startswith("/") or ".." in path.split("/") or "\\" in path:
        return "unsafe path"
    return "file too large" if size > MAX_FILE else ""
