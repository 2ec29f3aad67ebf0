"""How far an honest kernel's answer may be from the fp64 golden. One table; its version stands in every receipt.

Two gates, both of which must hold (after PyTorch's ``torch._dynamo.utils.same`` and FlashAttention's tests):

1. elementwise: ``|answer - golden| <= atol + rtol * |golden|`` with ``atol`` a multiple of the golden's rms, growing
   with the root of the longest sum, ``sqrt(K / 128)``;
2. against the honest error: rmse and largest error are at most a multiple of the reference's own (the median of eager
   and of two runs with inputs moved by an ulp, which measure how ill-conditioned the task is; of few elements, the
   largest of nine), plus a floor. Of few elements only the largest error counts: a row that is divided by one standard
   deviation has that one's error in all its elements.

Where the task is so ill-conditioned that its own error exceeds gate 1, gate 1 widens to four times that error, up to
``cap``; to ``honest`` times the reference's largest error where that is beyond it and its rmse is not: eager itself
would not pass where one element of many is far worse than the others.

At sizes beyond those at which a candidate is judged eager is the measure, and one run moved by an ulp the honest error.

Whole numbers in half precision that cancel when they, or their products, are summed (styles ``cancelling`` and
``balanced``) are exact in single precision: there the honest error is eager's, and an ulp of single precision of sums
as large that do not cancel, growing with the root of their terms, for moved by an ulp of half nothing does. It is
eager's alone where one number is large and all others are next to nothing (styles ``dominated`` and ``led``): an ulp of
the one is many of them.

Where all inputs are a ten thousandth of what the task draws (style ``small``), some ulps of one are allowed beside:
``exp(x) - 1`` in place of ``expm1`` is what libraries write and ``torch.testing`` lets pass. A receipt tells of it. So
they are where a natural draw's answer is a few numbers that are next to nothing beside those of the first trial: behind
gates that have shut ``2 * sigmoid(2 * x) - 1`` loses as much in place of ``tanh(x)``. And for gradients of inputs that
fade to nothing (style ``fading``), where derivatives of norms, roots and quotients are large.

Where inputs or weights are of a kind that the task does not draw (styles ``CONDITIONED`` and ``RAISED``: moved off, of
many magnitudes, with a constant in many places), ``LENIENT`` times as much is allowed: sums in another order, softmax
in base two or ``1 - sigmoid(x)`` honestly lose more there than eager. Where their magnitudes are the reference's last,
the ulps of one are allowed beside, unless it is homogeneous. What such draws are for, clips and branches, is off by far
more.

Rows that have magnitudes of their own are judged one by one. So are the lines of an answer where an input's outer lines
are very large (styles ``burdened`` and ``strained``), for those of windows that hold none of these are as small as
ever, and the steps of a recurrence whose last one undoes the others (style ``undone``): what single precision loses of
these is allowed beside.

Products of fp32 may be asked for in tf32: a track of its own, with a row of its own, in which the reference's error is
that of factors cut to tf32, and on a GPU that of eager in tf32. Receipts name the track, and what was
judged in it is neither compared with nor published beside the other.

Steps (``floor``, comparisons, ``fmod``) turn a rounding into a whole step. Where the reference itself steps when inputs
move by ``ULPS``, all of them or the largest of each row, or column, against the others, at no more than ``RARE`` of the
elements, every answer between its own is right there, and so are infinities and numbers where some of its own are the
ones and some the others.
Not so on inputs of few digits (style ``exact``), nor on numbers of a text among the inputs (style ``edged``), at which
nothing was rounded before it stepped; at the latter a text's numbers are in single precision in the golden, too.
Roundings to half precision within a task are such steps, too: there what the reference computes is moved, operator by
operator, before it is rounded (``kdata.verify.reference.roundings``). Who rounds elsewhere, or nowhere, is wrong.

NaN and infinities stand where eager or the golden has them, and nowhere else; that is a gate on every input a task is
judged on, none of which holds any. Where inputs do hold some, the reference's places are asked for too, at trust level,
but a receipt only tells of it: Triton's ``maximum`` returns the other operand by default, and honest kernels do the
same. Where the reference itself asks about them (``isnan``, ``nan_to_num``, ``nansum``) they are a gate there, too.
Of half precision numbers that are all within an ulp of the golden on the side of zero are cut, not rounded, and wrong.
Denormals may be flushed to zero: no task promises them, and below ``SMALLEST`` no answer is told from zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

VERSION = "45"
SMALLEST = 1e-7  # a golden's rms below this counts as this


@dataclass(frozen=True, slots=True)
class Row:
    """Limits for one dtype; those with ``_rms`` are multiples of the golden's rms."""

    atol_rms: float
    rtol: float  # elementwise tasks
    rtol_sums: float  # with reductions or products
    honest: float  # multiple of the honest rmse
    floor_rms: float
    cap_rms: float


TABLE = {
    "float64": Row(1e-10, 1e-7, 1e-7, 2.0, 1e-12, 1e-6),
    "float32": Row(1e-5, 1.3e-6, 1e-4, 2.0, 1e-6, 1e-3),
    "tf32": Row(1e-3, 1.3e-6, 1e-3, 2.0, 1e-5, 3e-2),  # of float32, where there are products
    "float16": Row(1e-3, 1e-3, 1e-2, 3.0, 1e-3, 1e-1),
    "bfloat16": Row(8e-3, 1.6e-2, 1.6e-2, 3.0, 8e-3, 1e-1),
    "float8_e4m3fn": Row(0.125, 0.125, 0.125, 3.0, 0.125, 0.5),
    "float8_e5m2": Row(0.25, 0.25, 0.25, 3.0, 0.25, 0.5),
}
ALIASES = {"complex64": "float32", "complex128": "float64"}
LENIENT = 8.0  # times what is allowed, where inputs or weights are of a kind that a task draws none of
LARGEST = 4.0  # multiple of the honest largest error
ONES, ONES_RMSE = 8, 2  # ulps of one, in what kernels compute in, that intermediate results near one may be off
BELOW_TF32 = (1 << 13) - 1  # the bits of a float32 that tf32 does not have
ALIKE = 0.01  # how closely an answer is like an honest one, where another one is infinite
RARE = 0.05  # share of an answer's elements, one at least, that may stand at a step
ULPS, ULPS_HALF = 4, 1  # by which inputs are moved to find steps: kernels' quotients and exponentials are off by two


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Limits for one output."""

    atol: float
    rtol: float
    rmse: float
    largest: float


def tolerance(
    dtype: str, scale: float, terms: int, sums: bool, honest_rmse: float, honest_largest: float, ones: bool = False,
    tf32: bool = False, few: bool = False,
) -> Tolerance:  # fmt: skip
    """Limits for an output.

    Args:
        dtype: of the output, as torch names it.
        scale: rms of the golden's finite elements.
        terms: K, the longest sum behind one element.
        sums: whether there are reductions or products at all.
        honest_rmse: the reference's own rms error.
        honest_largest: the reference's own largest error.
        ones: whether intermediate results may be near one though the golden is small.
        tf32: whether there are products that may be computed in tf32.
        few: whether it has so few elements that their errors may well have one cause, a row's deviation say.
    """
    name = ALIASES.get(dtype, dtype)
    row = TABLE["tf32" if tf32 and name == "float32" else name]
    scale = max(scale, SMALLEST)
    growth = math.sqrt(max(1.0, terms / 128))
    cap = row.cap_rms * scale * growth
    atol = row.atol_rms * scale * growth
    beyond = row.honest * honest_largest if honest_rmse <= cap else 0.0  # of few elements: the task bears these inputs
    widened = min(LARGEST * honest_largest, max(cap, beyond))
    floor = row.floor_rms * scale * growth
    one = ones * (2.0**-52 if dtype in ("float64", "complex128") else 2.0**-23)
    rmse = row.honest * min(honest_rmse, cap) + floor + ONES_RMSE * one
    largest = LARGEST * min(honest_largest, cap) + 10 * floor + ONES * one
    return Tolerance(
        atol=max(atol, widened, ONES * one),
        rtol=row.rtol_sums if sums else row.rtol,
        rmse=max(rmse, largest) if few else rmse,
        largest=largest,
    )


def either_infinite(library: Any, answer: Any, honest: Sequence[Any]) -> Any:
    """Where honest answers are infinite or are not, at few elements, and this one is like one of them.

    A filter's threshold is met by one element more or less where sums are rounded otherwise.  ``library``: numpy or
    torch, of whose arrays all are.
    """
    low, high = reduce(library.minimum, honest), reduce(library.maximum, honest)
    steps = library.isinf(low) != library.isinf(high)
    few = int(steps.sum()) <= max(1, RARE * math.prod(steps.shape))
    alike = library.isclose(answer, low, rtol=ALIKE) | library.isclose(answer, high, rtol=ALIKE)
    return steps & few & alike


def stepping(library: Any, answer: Any, honest: Sequence[Any], allowed: Any) -> Any:
    """Where honest answers step, at few elements, and this one is between them; nowhere where there are many.

    ``library``: numpy or torch, of whose arrays all are.
    """
    low, high = reduce(library.minimum, honest), reduce(library.maximum, honest)
    steps = high - low > allowed
    few = int(steps.sum()) <= max(1, RARE * math.prod(steps.shape))
    return steps & few & (answer >= low - allowed) & (answer <= high + allowed)
