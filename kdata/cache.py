"""The user's cache folder, and how files get into it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def cache_folder(kind: str) -> Path:
    """Where things of a kind are kept: in ``KDATA_CACHE``, else in the user's cache folder."""
    base = os.environ.get("KDATA_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "kdata")
    return Path(base).expanduser() / kind


def put(place: Path, data: bytes) -> None:
    """Write whole or not at all: a temporary sibling is renamed into place, so that a kill leaves nothing broken."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f".{place.name[:100]}.", delete=False) as file:
        file.write(data)
    os.chmod(file.name, 0o644)
    os.replace(file.name, place)
