"""The distributions of inputs by name, see ``kdata.verify.draws``; without torch, for the parent."""

from __future__ import annotations

DETAILS = {
    "natural": "", "centred": "inputs centred on zero", "nearly": "a tenth of the last inputs changed",
    "wide": "inputs from 0.01 to 200 times their size", "offset": "inputs moved by 100",
    "ties": "inputs of few values, zero among them", "small": "inputs a ten thousandth of their size",
    "corners": "halves, zeros, a constant and hundred-thousandths among the inputs",
    "huge": "inputs ten thousand times their size",
    "below": "inputs far below zero", "above": "inputs far above zero",
    "strided": "inputs that are transposed views", "nonfinite": "NaN and infinities among the inputs",
    "float16": "in float16", "bfloat16": "in bfloat16", "gradient": "gradients",
}  # fmt: skip
CONDITIONED = ("wide", "offset", "corners", "huge", "below", "above")  # only where the task is well-conditioned
