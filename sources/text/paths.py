"""What the paths of a package's files say of how these are imported."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

MAX_DEEP = 3  # folders from the top in which a module of the package hides our replacement of that name


def parents(path: str) -> Iterator[str]:
    """The folders that a file is in, the inner ones first."""
    while (path := posixpath.dirname(path)) not in ("", "/"):
        yield path


def bound_by(path: str, texts: Mapping[str, str]) -> Iterator[str]:
    """What a file may be imported as, and the packages that it is in, as far as these are near the top.

    A folder below others that is no package is named after one, perhaps: ``examples/pytorch_lightning/train.py``.
    """
    parts = path.split("/")[:MAX_DEEP]
    for deep, part in enumerate(parts):
        if not deep or part.endswith(".py") or f"{'/'.join(parts[: deep + 1])}/__init__.py" in texts:
            yield part.removesuffix(".py")


def module_name(path: str) -> str:
    """What a file is imported as, in its folder."""
    whole = path.removesuffix("/__init__.py").removesuffix(".py")
    return posixpath.basename(whole)
