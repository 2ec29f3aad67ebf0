"""What is put before a candidate's CUDA C++ so that its warps do not keep step: half of them sleep after each barrier.

A kernel whose threads wait for each other wherever they must gives the same answer.  One that lacks a barrier between
what some read and what others write next mostly does, too, for warps keep step by themselves; here they do not.

Source: CUDA C++ Programming Guide, "Synchronization Functions" and "Nanosleep Function" (compute capability 7.0 on).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kdata.record import Candidate, Trial
from kdata.verify import reasons
from kdata.verify.evidence.findings import Findings, RejectedError
from kdata.verify.evidence.trial import Expected

CHECK = "right whichever of its warps is first"
KINDS = ("base", "odd", "one", "mixed", "uneven", "large")  # of variants: a trial of each is run
ANSWERS = (reasons.WRONG, reasons.STATEFUL)  # what a race makes of an answer

BARRIER = "__syncthreads"
ASKED = re.compile(rf"(?m)^[ \t]*#[ \t]*(?:undef|(?:el)?if(?:n?def)?)\b.*\b{BARRIER}\b")  # a text that looks for it
OWN = re.compile(rf"define[\s\\]+{BARRIER}\b")  # one that says itself what it is: no warps would wait
TEXT = r"""
#include <cuda_runtime.h>
static __device__ __forceinline__ void kdata_wait(unsigned line) {
  unsigned warp = (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32;
  unsigned mixed = warp * 2654435761u ^ blockIdx.x * 2246822519u ^ line * 3266489917u;
  mixed = (mixed ^ mixed >> 15) * 2246822519u;
  if (mixed >> 31) __nanosleep(10000);
}
#define __syncthreads() (__syncthreads(), kdata_wait(__LINE__))
"""


def bears(candidate: Candidate) -> bool:
    """Whether a candidate has barriers after which warps can wait."""
    return candidate.language == "cuda" and BARRIER in candidate.source and not OWN.search(candidate.source)


def look(expected: Expected, see: Callable[[Sequence[int]], list[tuple[Trial, str]]], found: Findings) -> None:
    """Whether trials that were right are so where warps wait. ``see``: runs them so; nothing where it cannot.

    Raises:
        RejectedError: one is wrong.
    """
    first = {expected.trials[n]["variant"]: n for n in reversed(expected.numbers(*KINDS))}
    try:
        seen = see(sorted(first.values()))
    except RejectedError as rejection:  # of the compiler, which has taken the same text without delays
        found.check(CHECK, False, f"not seen: {rejection.detail}"[:300])
        return
    for trial, reason in seen:
        if reason in ANSWERS:
            found.check(CHECK, False, f"{trial.sizes}: {trial.detail}"[:300])
            raise RejectedError(reasons.WARPS, f"where some wait after a barrier: {trial.sizes}: {trial.detail}"[:300])
    found.check(CHECK, bool(seen), f"{len(seen)} trials" if seen else "not seen: it gave no answer")
