"""A folder on disk. Links are not followed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from kdata.record import Dropped, Origin, SourceFile, digest
from sources.fetch.licences import LICENCE_NAMES, Licences
from sources.fetch.texts import MAX_FILE, MAX_FILES, SourceError, dropped, source_file, wanted


def collect(place: str) -> list[SourceFile | Dropped]:
    """All Python files under a folder, or one file.

    Raises:
        SourceError: there is no such folder or file, or it holds too many files.
    """
    root = Path(place).expanduser()
    if not root.exists():
        raise SourceError(f"local:{place}: there is no such folder")
    if root.is_file() and root.suffix != ".py":
        raise SourceError(f"local:{place} is no Python file: name one, or a folder")
    paths = [root] if root.is_file() else sorted(_walk(root))
    if len(paths) > MAX_FILES:
        raise SourceError(f"local:{place} holds more than {MAX_FILES} Python files")
    base = root.parent if root.is_file() else root
    contents = {p.relative_to(base).as_posix(): _bytes(p) for p in paths}
    texts = {p: d.decode("utf-8", "replace") for p, d in contents.items() if d and _is_licence(p)}
    licences = Licences(texts)
    files = {p: d for p, d in contents.items() if not _is_licence(p)}
    # Licences count, too: a build that dropped everything for want of one is not to go on as it was.
    revision = "sha256:" + digest(*(f"{p}\0{digest((d or b'').decode('latin-1'))}" for p, d in contents.items()))
    name = root.resolve().name.removesuffix(".py")
    return [_record(p, d, name, revision, licences) for p, d in files.items()]


def _record(path: str, data: bytes | None, name: str, revision: str, licences: Licences) -> SourceFile | Dropped:
    licence = licences.of(path, (data or b"")[:4000].decode("utf-8", "replace"))
    origin = Origin("local", name, revision, path, licence)
    return dropped(origin, "unreadable, too large or a link") if data is None else source_file(origin, data)


def _walk(root: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(root, followlinks=False):
        for name in names:
            path = Path(folder, name)
            if wanted(path.relative_to(root).as_posix()) or _is_licence(name):
                yield path


def _is_licence(path: str) -> bool:
    return not path.endswith(".py") and bool(LICENCE_NAMES.match(path.rsplit("/", 1)[-1]))


def _bytes(path: Path) -> bytes | None:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_FILE:
            return None
        return path.read_bytes()
    except OSError:
        return None
