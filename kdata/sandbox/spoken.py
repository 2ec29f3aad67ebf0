"""What jobs say: JSON in which any text may stand, and that goes on to files and terminals."""

from __future__ import annotations

import json
from typing import Any

KEPT = "\n\t"


def spoken(data: bytes) -> Any:
    """What a job said, without what no file or terminal takes: half a character, and what moves a cursor.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is too deep.
    """
    value = json.loads(data)
    return value if data.isascii() and b"\\u" not in data and b"\x7f" not in data else _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return "".join(c if c.isprintable() or c in KEPT else "\ufffd" for c in value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    return value
