"""How precise products are asked to be, in older words and in none. In the host's child."""

from __future__ import annotations

from functools import wraps
from typing import Any

import triton.language as tl

_left: bool | None = None  # a product of float32 has left its precision to Triton; None: there was none


def left() -> bool | None:
    """Whether a product of float32 has left its precision to Triton since this was last asked; None without any."""
    global _left
    found, _left = _left, None
    return found


def hear_older() -> None:
    """Let ``allow_tf32`` ask for what it says, though the default for where nothing is asked for is set."""
    language: Any = tl.core
    original = language.dot

    @language.builtin  # type: ignore[untyped-decorator]  # triton says no types
    @wraps(original)
    def dot(*given: Any, **more: Any) -> Any:
        asked = more.pop("allow_tf32", given[4] if len(given) > 4 else None)
        asked = getattr(asked, "value", asked)
        if asked is None:
            _hear(given, more)
            return original(*given, **more)
        _hear(given, {"input_precision": "asked"})
        names = ("max_num_imprecise_acc", "out_dtype")
        more |= {"input_precision": "tf32" if asked else "ieee"} | dict(zip(names, given[5:], strict=False))
        return original(*given[:3], **more)

    tl.dot = language.dot = dot


def _hear(given: tuple[Any, ...], more: dict[str, Any]) -> None:
    """Note of a product whether it says how precise it is to be; only of float32's, for others have one precision."""
    global _left
    factors = (*given[:2], *(more[name] for name in ("input", "other") if name in more))
    if any(factor.dtype.scalar != tl.float32 for factor in factors):
        return
    said = more.get("input_precision", given[3] if len(given) > 3 else None)
    _left = bool(_left) or getattr(said, "value", said) is None
