"""How much of an answer is right without the candidate's kernels: with these disabled, or before they are launched."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kdata.verify.evidence.compare import Array, Tensors, leaves
from kdata.verify.evidence.trial import FLOATS, Expected

STRETCH = 16  # elements in a row, see _share


def untouched(expected: Expected, number: int, ablated: dict[str, Any], returned: Tensors) -> float:
    """The share of an answer that is right with the kernels disabled, in the output where it is largest.

    Zeros and ones that are right do not count, for they may be what a kernel's output starts as; nor do elements that
    an input of the same shape has in the same place, for kernels may change a copy in place.
    """
    kept = expected.trials[number]["kept"]
    pairs = zip(leaves(kept["eager"]), leaves(ablated["outputs"]), strict=True)
    given = [n["tensor"] for _, n in leaves(expected.trials[number]["given"]["inputs"]) if "tensor" in n]
    shares = [0.0]
    for (_, eager), (_, answer) in pairs:
        if "tensor" not in eager or expected.kept.entry(eager["tensor"])["dtype"] not in FLOATS:
            continue
        ours, theirs = expected.kept.array(eager["tensor"]), returned.array(answer["tensor"])
        counts = (ours != 0) & (np.abs(ours) != 1)
        for index in given:
            entry = expected.given.entry(index)
            if entry["shape"] == list(ours.shape) and entry["dtype"] in FLOATS:
                counts &= expected.given.array(index) != ours
        if ours.size and counts.sum() > ours.size // 4:
            shares.append(_share(theirs, ours, counts, np.isclose(theirs, ours, 1e-5, 1e-8)))
    return max(shares)


def copied(expected: Expected, number: int, report: dict[str, Any], returned: Tensors) -> float:
    """The share of an answer that torch had made before a kernel was launched on it, as in ``untouched``."""
    kept = expected.trials[number]["kept"]
    given = [n["tensor"] for _, n in leaves(expected.trials[number]["given"]["inputs"]) if "tensor" in n]
    found = [n["tensor"] for _, n in leaves(report.get("made", {"list": []})) if "tensor" in n]
    made = [returned.array(index).reshape(-1) for index in found if returned.entry(index)["dtype"] in FLOATS]
    made = [m for m in made if m.size and (m != m[0]).any()]  # a constant is filled in, not computed
    shares = [0.0]
    for _, eager in leaves(kept["eager"]):
        if "tensor" not in eager or expected.kept.entry(eager["tensor"])["dtype"] not in FLOATS:
            continue
        ours = expected.kept.array(eager["tensor"]).reshape(-1)
        counts = (ours != 0) & (np.abs(ours) != 1)
        same = [np.array_equal(m, ours) for m in made if m.size == ours.size]
        if any(same) and np.ptp(ours) > 0 and not _is_given(expected, given, ours):
            return 1.0
        for index in given:
            entry = expected.given.entry(index)
            if math.prod(entry["shape"]) == ours.size and entry["dtype"] in FLOATS:
                counts &= expected.given.array(index).reshape(-1) != ours
        if counts.sum() > ours.size // 8:
            as_large = [m for m in made if m.size == ours.size]
            shares += [_share(m, ours, counts, np.isclose(m, ours, 1e-6, 0)) for m in as_large]
    return max(shares)


def _share(there: Array, ours: Array, counts: Array, right: Array) -> float:
    """The share of the elements that count, or of stretches without one that is wrong, if other numbers stand there.

    A kernel that cuts off what torch has copied leaves most as it was, but here and there it puts zeros, say, in place
    of other numbers; one that fills in a part finds nothing there, or one number.
    """
    matters = counts | ((ours == 0) & ~right)
    others = there[matters & ~right]
    others = others[np.isfinite(others)]
    if not others.size or (others == others[0]).all():
        return float((right & counts).sum() / counts.sum())
    starts = np.arange(0, ours.size, max(1, min(STRETCH, ours.size // STRETCH)))
    some = np.logical_or.reduceat(matters.reshape(-1), starts)
    wrong = np.logical_or.reduceat((matters & ~right).reshape(-1), starts)
    return float((some & ~wrong).sum() / some.sum())


def _is_given(expected: Expected, given: list[int], answer: Array) -> bool:
    """Whether an input has the same elements in the same order."""
    return any(np.array_equal(expected.given.array(index).reshape(-1), answer) for index in given)
