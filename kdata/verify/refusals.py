"""Candidates that refuse sizes at which a reference runs, though their task may not have meant these."""

from __future__ import annotations

import re

from kdata.record import Receipt
from kdata.task import INPUTS, sizes
from kdata.verify import reasons
from kdata.verify.candidate.source import describes
from kdata.verify.options import Options

EQUAL = "takes sizes apart that stand as equal ones"
DESCRIPTOR_STEP = 8  # elements whose bytes are a multiple of 16, in two bytes and more
DESCRIBED = re.compile(r"raises: .*(16.bytes?\b|align)", re.IGNORECASE)  # what descriptors and their callers say
OUTSIDE = "outside the tensors"  # likewise of one whose kernels reach there
RAISED = re.compile(r"\w*(Error|Exception)\b")  # of what a trial that raised tells


def refuses_unequal(receipt: Receipt, source: str) -> bool:
    """Whether it raised at other sizes and was wrong at none, and the shapes of its task's inputs say a number twice.

    ``torch.randn(96, 96)`` may be a square, or two lengths that are equal by chance: the text does not tell, and the
    reference takes both.  Who answers wrongly where they differ takes one for the other, as does who reaches outside
    what it was given; who raises need not be wrong.
    """
    failed = [trial.detail for trial in receipt.trials if not trial.passed]
    if receipt.reason not in (reasons.WRONG_ODD, reasons.BAKED_IN) or not failed:
        return False
    if not all(RAISED.match(detail) and OUTSIDE not in detail for detail in failed):
        return False
    values = [size.value for size in sizes(source) if size.name.startswith(INPUTS) and size.value > 1]
    return len(set(values)) < len(values)


def refuses_odd_rows(receipt: Receipt, text: str, options: Options) -> bool:
    """Whether it calls for tensor descriptors, of rows that none can describe: a GPU reads something else there."""
    return describes(text) and bool(options.device == "cuda" or DESCRIBED.search(receipt.detail))
