"""Is the candidate proven right?"""

from __future__ import annotations

from kdata.record import Pair


def check(pair: Pair) -> str | None:
    """The receipt's own reason, unless its verdict is ``verified``."""
    if pair.receipt.candidate_id != pair.candidate.id:
        return "receipt of another candidate"
    if pair.receipt.effort == "kernelbench":
        return "judged by KernelBench's rule only"
    if pair.receipt.verdict == "verified":
        return None
    return ": ".join(filter(None, (pair.receipt.reason or pair.receipt.verdict, pair.receipt.detail)))
