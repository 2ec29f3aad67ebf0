"""Wheels of a few files, as bytes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping


def wheel(files: Mapping[str, str | bytes]) -> bytes:
    """An archive of files, compressed, so that one may be a bomb."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return out.getvalue()
