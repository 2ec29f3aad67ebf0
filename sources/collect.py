"""A source, named by one string, becomes source files.

``pypi:NAME`` or ``pypi:NAME==VERSION``; ``git:URL-or-DIR`` or ``git:URL-or-DIR@COMMIT``; ``local:DIR`` or a path.
"""

from __future__ import annotations

from collections.abc import Callable

from kdata.record import Dropped, SourceFile
from sources import git, local, pypi
from sources.texts import SourceError as SourceError

KINDS: dict[str, Callable[[str], list[SourceFile | Dropped]]] = {
    "pypi": pypi.collect,
    "git": git.collect,
    "local": local.collect,
}


def collect(spec: str) -> list[SourceFile | Dropped]:
    """All Python files of a source; those that could not be read are ``Dropped`` with a reason.

    Raises:
        SourceError: nothing can be read from there; the message is one line.
    """
    kind, colon, rest = spec.partition(":")
    if not colon or kind not in KINDS:
        kind, rest = "local", spec
    if not rest.strip():
        raise SourceError(f"{spec!r} names no source: use pypi:NAME, git:URL or a folder")
    found = KINDS[kind](rest.strip())
    if not any(isinstance(f, SourceFile) for f in found):
        raise SourceError(f"{spec} holds no readable Python file")
    return found
