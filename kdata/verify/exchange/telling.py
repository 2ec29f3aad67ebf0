"""Exceptions as one side tells the other of them."""

from __future__ import annotations

LONGEST = 300  # characters of an exception that are told


def line(error: BaseException) -> str:
    """An exception in one line; of a long one its beginning and its end, where a compiler says what is wrong."""
    said = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return said if len(said) <= LONGEST else f"{said[: LONGEST // 2]} ... {said[5 - LONGEST // 2 :]}"
