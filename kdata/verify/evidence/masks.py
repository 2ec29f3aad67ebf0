"""What answers that are drawn at random look like: by the same code of the reference's and of the candidate's.

A task that draws in training, as dropout does, is judged in evaluation mode, where nothing is drawn.  In training one
call says little, and many a lot.  Each measure is one number of a call, or of two.  Who draws as the reference does has
numbers like the reference's, whatever their distribution: that all of ``CALLS`` are beyond all of ``USUAL`` of the
reference's has less than one chance in 10 ** 15, for that is one order of them all of so many that are equally likely.
Pairs share calls; at least four of the candidate's do not, nor do 126 of the reference's: one in 10 ** 7, and then they
are to be more alike than any of these by ``ALIKE``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

CALLS, USUAL = 12, 256  # of the candidate, and of the reference beside as many from which the usual answer is known
FAINT, FAR = 0.05, 8.0  # share of the usual size below which something is taken for none, and deviations at most
ORDINALS = ("", "second ", "third ", "fourth ", "fifth ", "sixth ")  # calls: half of ``CALLS`` at most
STEP, NONE = 0.02, 0.1  # of how much is off, and up to how much of it on average is none
SLACK, ROUNDING, ALIKE = 0.05, 5e-3, 0.1  # beyond the reference's numbers: of their range, of their size, of alikeness
MEASURES = {
    "zeros": "other numbers of its elements are zero",
    "scale": "it is of another size on average",
    "power": "it is moved by another amount on average",
    "spread": "its elements are moved by other amounts than each other",
    "third": "what it draws is distributed otherwise",
    "fourth": "what it draws is distributed otherwise",
    "within": "what it draws is the same again and again within one call",
} | {f"again {n}": f"what it draws is the same at every {said}call" for n, said in enumerate(ORDINALS, 1)}


@dataclass(frozen=True, slots=True)
class Usual:
    """What the reference's calls give: each element's mean, and by how much it is off that as a rule."""

    mean: Array
    spread: Array

    @staticmethod
    def of(answers: Sequence[Array]) -> Usual:
        """That of these calls."""
        every = np.stack([a.reshape(-1).astype(np.float64) for a in answers])
        return Usual(every.mean(0), every.std(0))

    def measured(self, answers: Sequence[Array]) -> dict[str, list[float]]:
        """The measures of calls one after another."""
        mean = self.mean
        flat = [a.reshape(-1)[: mean.size].astype(np.float64) for a in answers]
        there, power = np.abs(mean) > FAINT * _size(mean), max(float(mean @ mean), 1e-300)
        moves = self.spread > FAINT * _size(self.spread)
        size = np.where(moves, self.spread, 1.0)
        off = [np.where(moves, np.clip((a - mean) / size, -FAR, FAR), 0.0) for a in flat]  # each in its place
        return {
            "zeros": [float((a == 0)[there].mean()) for a in flat],
            "scale": [float(a @ mean) / power for a in flat],
            "power": [float((o[moves] ** 2).mean()) for o in off],
            "spread": [float(o[moves].std()) for o in off],
            "third": [float((o[moves] ** 3).mean()) for o in off],
            "fourth": [float((o[moves] ** 4).mean()) for o in off],
            "within": [_peak(a * b) for a, b in pairwise(off)],  # of two: signs of what is dropped cancel
        } | {f"again {step}": _repeated(off, step) for step, _ in enumerate(ORDINALS, 1)}

    def ends(self, answers: Sequence[Array]) -> dict[str, list[float]]:
        """Between which numbers the measures of calls are."""
        return {name: [min(found), max(found)] for name, found in self.measured(answers).items()}

    def beyond(self, answers: Sequence[Array], ends: dict[str, list[float]]) -> str:
        """In what a candidate's calls are all beyond those of the reference; "" in nothing.

        ``ends``: none where nothing is drawn.
        """
        if not all(np.isfinite(a).all() for a in answers):
            return "it is not finite"
        if not ends:
            off = _size(np.stack([a.reshape(-1)[: self.mean.size] - self.mean for a in answers]))
            return f"for its gradient it draws something else than for its answer: {off:.3g}" if off > NONE else ""
        for name, found in self.measured(answers).items():
            low, high = ends[name]
            alike = ALIKE if name.startswith(("within", "again")) else 0.0
            slack = SLACK * (high - low) + ROUNDING * max(abs(low), abs(high)) + alike
            if high > low and (min(found) > high + slack or max(found) < low - slack):
                return f"{MEASURES[name]}: {np.mean(found):.3g}, in the reference {low:.3g} to {high:.3g}"
        return ""


def with_products(gradients: Sequence[Any], answers: Sequence[Any]) -> list[Any]:
    """Gradients after their products with answers of their shapes, of numpy or torch.

    Who draws another mask for the backward than for the forward has products that are zero in more places.
    """
    return [*(g * a for g in gradients for a in answers if g.shape == a.shape), *gradients]


@dataclass(frozen=True, slots=True)
class Linear:
    """What tells whether an answer is linear in an input by one mask, that of its gradient; of numpy or of torch.

    Each row of the answer times the vector that gradients begin at is that of the input times its gradient then, but
    for what is the same at every call.
    """

    vectors: Sequence[Any]  # of the answers
    inputs: Sequence[Any]  # of as many gradients, the first ones
    unit: float  # of what size rows are
    usual: Sequence[Any]  # by how much they are off at some call

    def off(self, gradients: Sequence[Any], answers: Sequence[Any]) -> list[Any]:
        """By how much rows are off more than usual, in steps of ``STEP``: in single precision by none."""
        pairs = zip(self.differences(gradients, answers), self.usual, strict=False)
        return [((off - usual) / self.unit / STEP).round() * STEP for off, usual in pairs]

    def differences(self, gradients: Sequence[Any], answers: Sequence[Any]) -> list[Any]:
        """By how much rows are off, for each answer and input that have as many."""
        ends = [(_rows(a, v), _rows(g, x)) for a, v in zip(answers, self.vectors, strict=False)
                for g, x in zip(gradients, self.inputs, strict=False)]  # fmt: skip
        return [one - other for one, other in ends if one.shape == other.shape]


def _rows(one: Any, other: Any) -> Any:
    product = one * other
    return product.reshape(len(product), -1).sum(1) if product.ndim else product.reshape(1)


def _size(values: Array) -> float:
    return float(np.sqrt((values**2).mean()))


def _repeated(calls: Sequence[Array], step: int) -> list[float]:
    """How alike each call is to one after it."""
    return [_alike(a, b) for a, b in zip(calls, calls[step:], strict=False)]


def _alike(one: Array, other: Array) -> float:
    """How alike two calls are, at most one."""
    size = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / size if size > 0 else 1.0


def _peak(values: Array) -> float:
    """How alike some values are to themselves moved by any number of elements."""
    there = values != 0
    off = np.where(there, values - values[there].mean(), 0.0) if there.any() else values
    size = float(off @ off)
    if size == 0 or off.size < 2:
        return 1.0
    turned = np.fft.irfft(np.abs(np.fft.rfft(off)) ** 2, off.size)
    return float(np.abs(turned[1:]).max()) / size
