"""The user's cache folder, and how files get into it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def cache_folder(kind: str) -> Path:
    """Where things of a kind are kept: in ``KDATA_CACHE``, else in the user's cache folder."""
    base = os.environ.get("KDATA_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "kdata")
    return Path(base).expanduser() / kind


def put(place: Path, data: bytes) -> None:
    """Write whole or not at all: a temporary sibling is renamed into place, so that a kill leaves nothing broken.

    Of a link it is the file that it leads to; who may read it is as for any file that the user makes.
    """
    place = place.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_name(f".{place.name[:100]}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
        os.replace(temporary, place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
