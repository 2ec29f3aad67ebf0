"""The distributions of inputs by name, see ``kdata.verify.reference.draws``, and what gradients are not given for.

Without torch, for the parent.
"""

from __future__ import annotations

from collections.abc import Sequence

SPARSE = ("sparse", "thin", "spiked", "dotted")  # see kdata.verify.reference.sparse
COUNTED, STEPPED = "counted", "stepped"
DETAILS = {
    "natural": "", "centred": "inputs centred on zero", "nearly": "a tenth of the last inputs changed",
    "barely": "a thousandth of the last inputs changed",
    "wide": "inputs from 0.01 to 200 times their size", "offset": "inputs moved by 100", "moved": "inputs moved by ten",
    "ties": "inputs of few values, zero among them", "small": "inputs a ten thousandth of their size",
    "flat": "long runs of one value in inputs of bools",
    "late": "inputs of bools in which only the last of a row differs",
    "laden": "narrow integers nearly as large as there are",
    "corners": "halves, zeros, a constant and hundred-thousandths among the inputs",
    "huge": "inputs ten thousand times their size",
    "parted": "half of each row far above zero, half far below", "banded": "rows that are zero but for some columns",
    "below": "inputs far below zero", "above": "inputs far above zero",
    "deep": "inputs below zero by 100 000 times their size", "steep": "inputs above zero by 100 000 times their size",
    "strided": "inputs that are transposed views", "pairs": "two inputs that are transposed views",
    "sliced": "inputs that are parts of wider rows", "rearranged": "inputs whose rows lie in another order",
    "spaced": "inputs that are columns",
    "beside": "inputs of which every other one is a transposed view",
    "nonfinite": "NaN and infinities among the inputs",
    "float16": "in float16", "bfloat16": "in bfloat16", "gradient": "gradients",
    "summed": "gradients of a sum", "frozen": "gradients of weights where inputs need none",
    "earlier": "gradients of the earlier of two calls", "anew": "gradients of a graph that was gone through before",
    "turned": "gradients of a transposed view", "sole": "gradients of the last input where nothing else needs one",
    "leading": "gradients of the first output alone", "trailing": "gradients of the last output alone",
    "kinked": "gradients of inputs of few values, zero among them", "stretched": "gradients of inputs as large as 120",
    "fading": "gradients of inputs that fade to nothing, and of any rows of tables",
    "bordered": "gradients of inputs at the ends that the reference keeps them within",
    "changed": "gradients where the answer is changed before they are asked for",
    "evaluated": "gradients in evaluation mode",
    "named": "numbers among the inputs that the kernels name",
    "magnitudes": "each row of another magnitude", "farthest": "inputs as large as the reference bears",
    "nearest": "inputs as small as the reference bears", "weights": "weights as large as the reference bears",
    "asked": "values among the inputs that the reference asks about", "integers": "large integers among the inputs",
    "unread": "infinities and large numbers among the inputs where a mask leaves them out",
    "signed": "some inputs centred on zero that the task draws above it",
    "ignored": "targets that do not count by torch's default", "elsewhere": "inputs of another shape",
    "wrapped": "places that count from the end",
    "argument": "constructed with other arguments", "number": "called with other numbers",
    STEPPED: "constructed with powers of two, and inputs at which the reference steps",
    COUNTED: "called with numbers that its kernels name",
    "tailed": "the last of each dimension larger", "negative": "negative integers among the inputs",
    "grown": "weights of their own signs as large as the reference bears",
    "leaning": "weights five above and below zero",
    "zeros": "zeros among the inputs, in the same places and lines of all",
    "exact": "inputs at which the reference steps",
    "reordered": "positions in another order", "lowered": "lengths that do not fill all",
    "ones": "ones among integers that are zeros", "grouped": "integers in no order, which the task sorts",
    "emptied": "sequences of which one is empty", "rows": "any rows of its tables",
    "crowded": "integers that all are one number",
    "ends": "zeros and ones among numbers between them",
    "lifted": "every other input five above zero", "raised": "every other input, from the first on, five above zero",
    "faint": "every other input a hundred-millionth of its size",
    "dim": "every other input, from the first on, a hundred-millionth of its size",
    "absent": "zeros among the weights",
    "lone": "integers among the inputs that all are one which the reference asks about, but for one",
    "alike": "rows of one input that are multiples of another's", "twins": "the largest of each row twice",
    "sure": "scores that are largest for their targets", "uneven": "sequences as long as there is room",
    "graded": "rows that go one way, one of them far", "coupled": "rows of weights that are equal",
    "single": "a dimension of one",
    "cancelling": "whole numbers in half precision that are large and cancel, or whose products are",
    "balanced": "whole numbers in half precision that cancel where they are looked up, or added up behind a product",
    "adjacent": "large integers among the inputs that are nearly the same",
    "eased": "numbers of usual size in a mask that is added", "filled": "numbers in inputs of zeros or of identity",
    "void": "every other input nothing but zeros",
    "hollow": "every other input, from the second on, nothing but zeros",
    "dominated": "rows or columns in half precision of one large number and many small ones",
    "led": "products in half precision of which one leads, and which are shared out",
    "seeming": "rows that look regular at their ends",
    "edged": "numbers among the inputs at which the reference steps",
    "slow": "inputs or weights at which what is repeated converges slowly",
    "undone": "inputs in half precision whose last step undoes what those before it did",
    "settling": "inputs or weights at which what is repeated ends as it converges",
    "burdened": "an input whose outer lines are a million times as large",
    "strained": "another input whose outer lines are a million times as large",
    "aged": "a state after so many calls that it shows", "oldest": "a state after as many calls as the reference bears",
    **dict.fromkeys(SPARSE, "some inputs that are zero nearly everywhere"),
    "batch": "a batch of two, where the task draws one", "repeated": "integers among the inputs that are equal",
}  # fmt: skip
# Kinds of variants of which one extra trial each is made: compilers take a one for a constant, and what they make is
# right for the task; of a dimension of one only wrong answers count; gradients at many rows.
BATCH, SINGLE, TALL = ALONE = ("batch", "single", "tall")
TAILED = "tails"  # a kind of variant: the last axes long, and one element more than blocks hold
ALIKE, GRADED = "alike", "graded"  # see kdata.verify.reference.alike
LEANING = "leaning"  # see kdata.verify.reference.leaning
SURE = "sure"  # see kdata.verify.reference.sure
UNEVEN = "uneven"  # see kdata.verify.reference.packed
CANCELLING = "cancelling"  # see kdata.verify.reference.cancelling
BALANCED = "balanced"  # see kdata.verify.reference.balanced
DOMINATED = "dominated"  # see kdata.verify.reference.dominated
LED = "led"  # see kdata.verify.reference.led
EDGED = "edged"  # see kdata.verify.reference.edges
SEEMING = "seeming"  # see kdata.verify.reference.seeming
BURDENS = BURDENED, STRAINED = "burdened", "strained"  # see kdata.verify.reference.burdened
UNDONE = "undone"  # see kdata.verify.reference.undone
SLOW, SETTLING = REPEATS = "slow", "settling"  # see kdata.verify.reference.slow
STRETCHED = "stretched"  # see kdata.verify.reference.magnitudes
KINKED = "kinked"  # where derivatives jump, as that of a relu at zero
FADING = "fading"  # see kdata.verify.reference.fading
BORDERED = "bordered"  # where they jump at a number that the reference says, as those of a clamp at its ends
EVALUATED = "evaluated"  # where the module is in evaluation mode
# See kdata.verify.reference.gradients.
GRADIENTS = ("gradient", "summed", "frozen", "earlier", STRETCHED, "turned", "sole", "leading", "trailing", KINKED,
             BORDERED, FADING, "anew", "changed", EVALUATED)  # fmt: skip
RAISED = ("lifted", "raised")
AGED = ("aged", "oldest")  # see kdata.verify.reference.aging
FAINT = ("faint", "dim", "hollow", "void")  # where something is divided by it, what is added to that counts
VIEWS = ("strided", "beside", "pairs", "sliced", "rearranged", "spaced")  # which differ in memory only
REACHING = ("magnitudes", "farthest", "nearest", "weights", "grown")  # see kdata.verify.reference.magnitudes
# Only where the task is well-conditioned.
ROWS = ("parted", "banded")  # see kdata.verify.gpu.draws
CONDITIONED = ("wide", "offset", "moved", "corners", "huge", "below", "above", "deep", "steep", "ends", STRETCHED,
               FADING, LEANING, ALIKE, GRADED, SURE, SLOW, *REACHING, *AGED, *ROWS)  # fmt: skip
BARELY = "barely"  # see kdata.verify.reference.again
ON_DEVICE = ("natural", "wide", "corners", "huge", BARELY, *ROWS)  # at a task's own sizes on a GPU
FLAT = 11  # by which the seed of that draw differs from the first; others take those before it
BITS = 48  # of a seed there; those above name the style
# Styles of the draws after the first of a variant, by its kind: the first that suits the task.
SECOND = {"base": "centred corners natural", "odd": "huge centred natural", "one": "deep below above corners natural"}
LATER = (
    "natural",
    "deep below centred natural",
    "huge natural",
    "centred above natural",
    "steep above natural",
    "corners natural",
)


def schedule(kind: str, seeds: Sequence[int], thorough: bool) -> list[tuple[int, str]]:
    """The draws of one kind of variant: seeds, each with the styles of which the first that suits the task is used."""
    first, *others = seeds
    if kind in ("double", "large", "uneven", "next"):
        return [(first, "natural")]
    if kind == TAILED:  # rows longer than most blocks, which may be gone through in another way: values, too, tell
        return [(first, "natural"), *zip(others, ("offset", "deep below above"), strict=False)]
    if kind == "few":
        return [(seed, "natural") for seed in seeds[:2]]
    draws = [(first, "natural"), *((seed, SECOND.get(kind, SECOND["base"])) for seed in others[:1])]
    draws += [(seed, LATER[n % len(LATER)]) for n, seed in enumerate(others[1:])]
    if kind == "base":
        draws[1:1] = [(first, style) for style in ((BARELY, "nearly") if thorough else ("nearly",))]
        draws += [(first + FLAT, "flat"), *([] if thorough else [(first + FLAT, "late")])]
    if kind == "base" or thorough:
        draws.append((first + 1, "wide"))
    if thorough and kind in ("base", "odd"):
        draws.append((first + 2, "offset"))
    return draws


def styled(seed: int, style: str) -> int:
    """The seed of a draw on a device in one of its styles, for a seed of ``BITS`` bits."""
    return seed | ON_DEVICE.index(style) << BITS


class NoGradientError(Exception):
    """The answer does not follow from its inputs in a way that torch can differentiate."""
