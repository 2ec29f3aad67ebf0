"""Why a candidate was not verified: the fixed phrases that receipts carry and funnels group by."""

from __future__ import annotations

import re

# The candidate's text
NOT_PYTHON = "not Python"
TOO_LONG = "too long"
NO_MODEL_NEW = "no ModelNew"
FORBIDDEN_IMPORT = "imports what it may not"
ABSENT_PACKAGE = "needs a package that is absent"
NO_KERNEL = "no kernel"
BEHIND = "reaches behind the interface"  # of a kernel and its caller: interpreter, machine, shared settings

# Building and running it
CONSTRUCTOR = "constructor differs"
STATE_DICT = "state_dict differs"
RAISES = "raises"
CRASH = "crash"
TIMEOUT = "timeout"
MEMORY = "memory"

# What it returned
STRUCTURE = "wrong structure"
WRONG = "wrong result"
WRONG_ODD = "wrong at odd sizes"
WRONG_LARGE = "wrong at larger sizes"
BAKED_IN = "sizes baked in"
MUTATES = "modifies its inputs"
OUT_OF_BOUNDS = "reaches outside its tensors"
OVERWRITES = "overwrites what it returned before"
STATEFUL = "carries state between calls"
BRANCH = "wrong in a branch that no trial takes"  # which asks how it is called, or where; not of what sizes
WRONG_GRADIENT = "wrong gradient"
RANDOM = "draws random numbers"
ORDER = "depends on the order of its programs"
WARPS = "depends on the order of its warps"

# How it was timed
TIMED_WRONG = "wrong when timed"
UNFINISHED = "not finished when it returns"
CLOCKS = "clocks disagree"
IMPOSSIBLE = "faster than the device can be"

# Whether its kernels did the work
ATEN = "calls ATen compute"
NOT_LAUNCHED = "kernel never launched"
INDEPENDENT = "answer does not depend on its kernels"
FALLBACK = "hides a failing kernel"
NO_COMPILE = "does not compile for"  # followed by the target

# The judge could not say
BAD_TASK = "the task cannot be run"
RANDOM_REFERENCE = "reference is nondeterministic"
UNSEEN = "does something else at its own sizes"  # which are too large to be judged here
UNSEEN_BEYOND = "does something else at larger sizes"  # likewise
WEAK_TASK = "the task tells right from wrong too poorly"
SLOW = "takes too long in the interpreter"  # of its kernels, that is: what hangs without them is a timeout
NO_GPU = "needs a GPU"
NO_COMPILER = "needs a compiler"
GPU_LOST = "the GPU is lost"
SHORT = "the GPU has too little memory"  # for its own sizes, beside the reference
BAD_OPTION = "bad option"
INTERNAL = "the judge failed"

# A detail that more than one place knows.
TOO_LARGE = "the reference cannot be scaled down to what an interpreter can do"

# What is said by who refuses sizes, which is no less honest than to answer; and a device's errors that refuse nothing.
REFUSING = frozenset({RAISES, MEMORY, TIMEOUT})
ASTRAY = re.compile("illegal memory access|misaligned address|unspecified launch failure")


def refuses(reason: str, detail: str) -> bool:
    """Whether an error is the word of who refuses sizes."""
    return reason in REFUSING and not ASTRAY.search(detail)
