"""Whether an answer rests on what masked loads leave out, where no ``other`` gives it a value.

Today's Triton makes these zeros and does not promise to, so a receipt tells of it and nobody is rejected for it.
"""

from __future__ import annotations

from collections.abc import Callable

from kdata.verify.evidence.findings import Findings

CHECK = "gives what its masks leave out a value"


def tell(found: Findings, right_when_shown: Callable[[int], bool]) -> None:
    """Note it, where a trial met such a load.

    ``right_when_shown``: whether the trial of this number is right where all that is left out are numbers that show.
    """
    if found.unloaded is not None:
        right = right_when_shown(found.unloaded)
        found.check(CHECK, right, "" if right else "right only where these are zeros, which Triton does not promise")
