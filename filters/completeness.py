"""Does the candidate do all of the work in kernels of its own?"""

from __future__ import annotations

from collections.abc import Collection

from kdata.record import Pair


def check(pair: Pair, allowed: Collection[str] = ()) -> str | None:
    """A reason where compute other than the ``allowed`` operators is left to ATen."""
    left = [op for op in pair.candidate.left_to_aten if op not in allowed]
    return f"leaves compute to ATen: {', '.join(left)}" if left else None
