"""How precise products are asked to be, in older words. In the host's child."""

from __future__ import annotations

from functools import wraps
from typing import Any

import triton.language as tl


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
            return original(*given, **more)
        names = ("max_num_imprecise_acc", "out_dtype")
        more |= {"input_precision": "tf32" if asked else "ieee"} | dict(zip(names, given[5:], strict=False))
        return original(*given[:3], **more)

    tl.dot = language.dot = dot
