"""Whether a reference bears inputs that its task does not draw. In the reference's child only."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import torch
from torch.utils._pytree import tree_map

from kdata.verify.reference.casts import Casts
from kdata.verify.reference.draws import jogged
from kdata.verify.reference.magnitudes import CONDITION, ROUGH, Answer, in_half
from kdata.verify.reference.styles import ALIKE, CONDITIONED, FADING
from kdata.verify.reference.ties import ByPlace, Ties
from kdata.verify.reference.values import by_an_ulp, finite, near, same

# Operators that promise which of equal ones they take: the first, and running ones the last so far, as torch does on
# every device and when it compiles them; and such as promise none of them.
FIRST = frozenset("argmax argmin max min stable_sort cummax cummin".split())
ANY = frozenset("topk sort argsort kthvalue median nanmedian mode multinomial".split())

# Operators that write to places, of which two that are equal leave either.
EITHER = frozenset("scatter scatter_ index_copy index_copy_ index_put index_put_ _index_put_impl_ put put_".split())

# What divides numbers by how far they are apart, and what may be divided by for that.
NORMS = frozenset("native_layer_norm native_group_norm native_batch_norm rsqrt".split())
DEVIATIONS = frozenset({"sqrt", "std", "std_mean"})

# What multiplies many numbers: large ones among them overflow in one order, and vanish before that in another.
PRODUCTS = frozenset({"prod", "cumprod", "cumprod_"})

# Operators by which some of what is summed counts for little.
WEIGHS = re.compile("softmax|attention|^exp2?$")


def first(names: Collection[str]) -> bool:
    """Whether a reference, of which these are the operators, promises which of equal elements it takes."""
    return not FIRST.isdisjoint(names) and ANY.isdisjoint(names)


def one_way(names: Collection[str]) -> bool:
    """Whether it is promised how a gradient is shared among equal elements; of a pooling's, any may get all of it."""
    return ANY.isdisjoint(names) and not any("max_pool" in name for name in names)


def weighs(names: Collection[str]) -> bool:
    """Whether some of what a reference sums, of which these are the operators, may count for little."""
    return any(map(WEIGHS.search, names))


def suited(styles: str, names: Collection[str]) -> list[str]:
    """The styles that are tried one after another, for a reference of which these are the operators."""
    norm = not NORMS.isdisjoint(names) or ("div" in names and not DEVIATIONS.isdisjoint(names))
    skipped = set[str]() if PRODUCTS.isdisjoint(names) else {"tailed", *CONDITIONED} - {FADING}  # zeros do not vanish
    return ["moved" if norm and style == "offset" else style for style in styles.split() if style not in skipped]


def of_blocks(names: Collection[str]) -> list[str]:
    """Styles that tell something new where there are more elements than a kernel's blocks have."""
    return ["late", "laden", *(["crowded"] if EITHER.isdisjoint(names) else []), *(["ties"] if first(names) else [])]


def bears(style: str, inputs: list[Any], eager: Answer, golden: Answer, generator: torch.Generator) -> bool:
    """Whether the reference is finite on such inputs and, where they are out of the ordinary, well-conditioned.

    Of "ties" it is asked that its answer is the same in fp64: no rounding makes elements equal.
    """
    if style == "natural":
        return True
    try:
        with Ties() as ties, Casts() as casts:
            outputs = eager(inputs)
        if casts.undefined:
            return False
        if style == "ties":
            return finite(outputs) and near(outputs, golden(inputs), CONDITION)
        if style in CONDITIONED:
            if ties.close or (ties.seen and not _whichever(inputs, outputs, eager)):
                return False
            others = [eager(tree_map(lambda t: by_an_ulp(t, generator), inputs)), golden(inputs)]
            if style == "corners":  # not at the cut of an angle, nor at a step: where breaking ties moves little
                others.append(eager(tree_map(lambda t: jogged(t, generator), inputs)))
            most = ROUGH if style == ALIKE or in_half(inputs) else CONDITION
            return finite(outputs) and all(near(outputs, other, most) for other in others)
        if ties.seen and not _whichever(inputs, outputs, eager):  # of what has run out to zero any may be the largest
            return False
    except Exception:  # noqa: BLE001 - outside its domain
        return False
    return finite(outputs)


def _whichever(inputs: list[Any], outputs: Any, eager: Answer) -> bool:
    """Whether the answer is the same whichever of equal elements is chosen: only what they are is asked for."""
    with ByPlace(backwards=True):
        return same(outputs, eager(inputs))
