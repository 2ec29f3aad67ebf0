"""Whether a candidate's kernels are given what is on the GPU: where they are interpreted all is in one memory.

The trusted side of ``candidate.placed``.
"""

from __future__ import annotations

from collections.abc import Callable

from kdata.sandbox.worker import Answer, JobError
from kdata.verify import reasons
from kdata.verify.evidence.findings import Findings, RejectedError

CHECK = "its tensors are on the GPU"


def look(run: Callable[[], Answer], found: Findings) -> None:
    """Call it once where what is on the host is told from the rest.

    Raises:
        RejectedError: a launch is given what is on the host.
    """
    try:
        told = run().value
    except JobError as error:
        told = {"unseen": str(error)}
    if "unseen" in told:  # it reads values, of which there are none there: nothing is known
        return
    misplaced = str(told.get("misplaced", ""))
    found.check(CHECK, not misplaced, misplaced)
    if misplaced:
        raise RejectedError(reasons.RAISES, misplaced)
