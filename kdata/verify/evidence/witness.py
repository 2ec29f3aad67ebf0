"""The interpreter as a second witness of what a GPU has found right. The trusted side.

It sees what a GPU does not show: every configuration of an autotuner, reads beside a tensor that find other tensors
there, programs that need each other's results, what is left in the libraries.  But it is not the device, and where it
contradicts one that has answered the same call rightly, it is believed only if it contradicts itself, too: what it
finds wrong in a trial, it must find right in the same trial with another configuration, or with nothing called before.
Where it cannot run a kernel, as assembly and what other devices have, it cannot say; that is no fault of the kernel's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from kdata.verify import reasons
from kdata.verify.beyond import aside, beyond, left_out, products, whole, within
from kdata.verify.evidence.expecting import UndecidedError
from kdata.verify.evidence.findings import CORRECT, SAME_BEHIND, Findings, RejectedError

CHECK = "the interpreter is a second witness"
ANSWERED = "right at its own sizes"  # the device's check
# Of what a device shows not.
SHOWN = frozenset({whole.BEYOND, beyond.CHECK, aside.CHECK, within.CHECK, left_out.CHECK, products.CHECK})
# What it sees by itself, whatever the answer is.
SEEN = frozenset({reasons.OUT_OF_BOUNDS, reasons.ORDER, reasons.STATEFUL, reasons.OVERWRITES, reasons.BEHIND})
ANSWERS = frozenset({reasons.WRONG, reasons.MUTATES, reasons.STRUCTURE})  # to what it has computed
UNANSWERED = ("what Triton's driver can", "what a launch returns", "an argument of class")  # here, though not on a GPU


@dataclass(frozen=True, slots=True)
class Testimony:
    """What the witness has seen."""

    found: Findings
    doubt: str = ""  # what it objects to and is not believed in; "" where it agrees
    own: RejectedError | None = None  # what it objects to at the task's own sizes, where the device may have answered


@contextmanager
def beside(testify: Callable[[], Testimony]) -> Iterator[Future[Testimony]]:
    """The testimony, taken meanwhile; nobody waits for it where the block ends early."""
    thread = ThreadPoolExecutor(1)
    try:
        yield thread.submit(testify)
    finally:
        thread.shutdown(wait=False, cancel_futures=True)


def hear(run: Callable[[], None], again: Callable[[int], bool], found: Findings) -> str:
    """Run the trials; return why what it says against the candidate is not believed, "" where it says nothing.

    ``again``: whether it finds a trial right with one of the configurations, with nothing called before.

    Raises:
        RejectedError: what it says is believed.
    """
    try:
        run()
    except RejectedError as rejection:
        if _by_itself(rejection) or _against_itself(rejection, again, found):
            raise
        return _say(rejection)
    except UndecidedError as undecided:
        return _say(undecided)
    return ""


def hear_at_large(look: Callable[[], object]) -> RejectedError | None:
    """As ``hear``, of sizes beyond those of the trials, in all of which it has agreed with the device.

    Raises:
        RejectedError: what it says is believed: of the task's own sizes only what it sees by itself.
    """
    try:
        look()
    except RejectedError as rejection:
        if _by_itself(rejection) or not rejection.detail.startswith(f"at {whole.OWN}"):
            raise
        return rejection
    return None


def note(second: Future[Testimony], found: Findings) -> None:
    """What a receipt says of it, once it is there.

    Raises:
        RejectedError: it is believed in what it objects to.
    """
    try:
        testimony = second.result()
        if testimony.own and all(check.name != ANSWERED for check in found.checks):
            raise testimony.own
    except RejectedError as rejection:
        found.check(CHECK, False, "it objects")
        raise RejectedError(rejection.reason, f"in the interpreter: {rejection.detail}") from rejection
    seen, doubt = testimony.found, testimony.doubt or (_say(testimony.own) if testimony.own else "")
    found.checks += [check for check in seen.checks if check.name in SHOWN]
    found.check(CHECK, not doubt, f"could not say: {doubt}"[:300] if doubt else f"{len(seen.trials)} trials")


def _say(ended: RejectedError | UndecidedError) -> str:
    return f"{ended.reason}: {ended.detail}"


def _by_itself(rejection: RejectedError) -> bool:
    return rejection.reason in SEEN and not rejection.detail.startswith(UNANSWERED)


def _against_itself(rejection: RejectedError, again: Callable[[int], bool], found: Findings) -> bool:
    """Whether the wrong answer follows from what was called before, or with which configuration."""
    passed = {check.name: check.passed for check in found.checks}
    if CORRECT not in passed:  # it did not come to a comparison
        return False
    if passed[CORRECT]:
        return rejection.reason in ANSWERS and SAME_BEHIND not in passed  # one of those that are repeated
    if any(reason in SEEN for reason in found.failures.values()):
        return True
    wrong = [number for number, reason in found.failures.items() if reason in ANSWERS]
    return bool(wrong) and again(wrong[0])
