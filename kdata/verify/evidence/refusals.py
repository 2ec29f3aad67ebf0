"""Candidates that refuse sizes at which a reference runs, though their task may not have meant these."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kdata.record import Receipt
from kdata.task import INPUTS, sizes
from kdata.verify import reasons
from kdata.verify.candidate.source import describes
from kdata.verify.options import Concession, Options

EQUAL = "takes sizes apart that stand as equal ones"
WIDTHS = "takes last dimensions of any size"
# What who asks for them says, and a driver of a block that is as wide as the dimension.
POWERS = re.compile(
    r"powers? of (2|two)|Assertion(Error|Failure)|NotImplementedError|not supported|unsupported|multiples? of|divisible"
    r"|must be|out of resource",
    re.IGNORECASE,
)
DESCRIPTOR_STEP = 8  # elements whose bytes are a multiple of 16, in two bytes and more
DESCRIBED = re.compile(r"raises: .*(16.bytes?\b|align)", re.IGNORECASE)  # what descriptors and their callers say
OUTSIDE = "outside the tensors"  # likewise of one whose kernels reach there
# Of what a trial that raised tells: what Triton's compiler raises is not always called an error.
RAISED = re.compile(r"(\w*(Error|Exception)|OutOfResources|CompileTimeAssertionFailure)\b")


def conceded_sizes(conceded: Concession) -> Iterator[tuple[str, str]]:
    """What a candidate does not do for which sizes are conceded to it, and at which it is judged."""
    if conceded.together:
        yield EQUAL, "it raises, and is judged where they are equal"
    if conceded.powers:
        yield WIDTHS, "it raises, and is judged where these are powers of two"
    if conceded.thrift > 1:
        yield "ends in time at the usual sizes", f"an interpreter does a {conceded.thrift}th of the work"
    if conceded.step > 1:
        yield "takes rows of any number of bytes", f"multiples of {conceded.step} elements, as descriptors do"


def refuses_unequal(receipt: Receipt, source: str) -> bool:
    """Whether it raised at other sizes and was wrong at none, and the shapes of its task's inputs say a number twice.

    ``torch.randn(96, 96)`` may be a square, or two lengths that are equal by chance: the text does not tell, and the
    reference takes both.  Who answers wrongly where they differ takes one for the other, as does who reaches outside
    what it was given; who raises need not be wrong.
    """
    if not _refusals(receipt):
        return False
    values = [size.value for size in sizes(source) if size.name.startswith(INPUTS) and size.value > 1]
    return len(set(values)) < len(values)


def refuses_widths(receipt: Receipt) -> bool:
    """Whether it raised at other sizes and was wrong at none, and what it said may be about powers of two.

    ``tl.arange(0, HEAD)`` is what kernels of attention say, and it raises where a head's size is none of these: they
    refuse it, and do not answer wrongly.
    """
    return any(POWERS.search(detail) for detail in _refusals(receipt))


def _refusals(receipt: Receipt) -> list[str]:
    """What the failed trials of a candidate say that raises at other sizes; nothing where one does not raise."""
    failed = [trial.detail for trial in receipt.trials if not trial.passed]
    raised = all(RAISED.match(detail) and OUTSIDE not in detail for detail in failed)
    return failed if raised and receipt.reason in (reasons.WRONG_ODD, reasons.BAKED_IN) else []


def refuses_odd_rows(receipt: Receipt, text: str, options: Options) -> bool:
    """Whether it calls for tensor descriptors, of rows that none can describe: a GPU reads something else there."""
    return describes(text) and bool(options.device == "cuda" or DESCRIBED.search(receipt.detail))
