"""Whether a reference bears inputs that its task does not draw. In the reference's child only."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_map

from kdata.verify.reference.draws import jogged
from kdata.verify.reference.magnitudes import CONDITION, Answer
from kdata.verify.reference.styles import CONDITIONED
from kdata.verify.reference.ties import LastOfEqual, Ties
from kdata.verify.values import by_an_ulp, finite, near, same


def bears(style: str, inputs: list[Any], eager: Answer, golden: Answer, generator: torch.Generator) -> bool:
    """Whether the reference is finite on such inputs and, where they are out of the ordinary, well-conditioned."""
    if style == "natural":
        return True
    try:
        with Ties() as ties:
            outputs = eager(inputs)
        if style in CONDITIONED:
            if ties.close or (ties.seen and not _whichever(inputs, outputs, eager)):
                return False
            others = [eager(tree_map(lambda t: by_an_ulp(t, generator), inputs)), golden(inputs)]
            if style == "corners":  # not at the cut of an angle, nor at a step: where breaking ties moves little
                others.append(eager(tree_map(lambda t: jogged(t, generator), inputs)))
            return finite(outputs) and all(near(outputs, other, CONDITION) for other in others)
    except Exception:  # noqa: BLE001 - outside its domain
        return False
    return finite(outputs)


def _whichever(inputs: list[Any], outputs: Any, eager: Answer) -> bool:
    """Whether the answer is the same whichever of equal elements is chosen: only what they are is asked for."""
    with LastOfEqual():
        return same(outputs, eager(inputs))
