"""Bytes from anywhere become source files, or are dropped with a reason."""

from __future__ import annotations

import contextlib
import io
import re
import tokenize
from pathlib import PurePosixPath

from kdata.record import Dropped, Origin, SourceFile, digest

STAGE = "collect"
MAX_FILE = 1 << 20  # bytes of one source file: larger ones are data or generated
MAX_FILES = 20_000  # source files of one repository
MAX_TOTAL = 256 << 20  # bytes of source of one repository
TELLING = re.compile(
    r"(^|/)readme[^/]*\.md$|\.ya?ml$|(conf|cfg|option|(^|/)h?param)[^/]*(/.*)?\.json$|"
    r"(^|/)(requirements[^/]*\.txt|pyproject\.toml|setup\.cfg|(conda_?)?env(ironment)?\w*\.ya?ml)$"
)
SKIPPED_FOLDERS = {"__pycache__", "node_modules", "site-packages", "build", "dist"}


class SourceError(Exception):
    """A source that could not be read; the message says why in one line.

    ``lasting`` is False where trying again may help: the network, or the server at its other end.
    """

    def __init__(self, message: str, lasting: bool = True) -> None:
        super().__init__(message)
        self.lasting = lasting


def wanted(path: str) -> bool:
    """Whether a path inside a repository is a file that we read, in no hidden or generated folder.

    These are Python, and what tells how it is used: READMEs, configurations in folders or files called so, and
    requirements.
    """
    parts = PurePosixPath(path).parts
    if any(p.startswith(".") or p in SKIPPED_FOLDERS for p in parts):
        return False
    return path.endswith(".py") or bool(TELLING.search(path.lower()))


def source_file(origin: Origin, data: bytes, encoding: str = "") -> SourceFile | Dropped:
    """Decode one file by ``encoding`` if that is known and right, else as Python would.

    Python goes by BOM, coding line, UTF-8; after these Latin-1 is tried, and taken where it leaves plain text.
    """
    if len(data) > MAX_FILE:
        return dropped(origin, "file too large", f"{len(data)} bytes")
    text = None if b"\x00" in data and not encoding else _decoded(data, encoding)
    if text is None or "\x00" in text:
        return dropped(origin, "not text" if b"\x00" in data else "undecodable")
    return SourceFile(origin, text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff"))


def _decoded(data: bytes, encoding: str) -> str | None:
    if encoding:
        with contextlib.suppress(LookupError, UnicodeError):
            return data.decode(encoding)
    try:
        return data.decode(tokenize.detect_encoding(io.BytesIO(data).readline)[0])
    except (SyntaxError, UnicodeDecodeError, LookupError):
        text = data.decode("latin-1")
        plain = not any(c < " " and c not in "\t\n\r\f" or "\x7f" <= c < "\xa0" for c in text)
        return text if plain else None


def dropped(origin: Origin, reason: str, detail: str = "") -> Dropped:
    """A source file that was not kept."""
    name = f"{origin.repository}:{origin.path}"
    return Dropped(STAGE, digest(origin.repository, origin.revision, origin.path), reason, detail, name)
