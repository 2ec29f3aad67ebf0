"""More than one element in a batch, for tasks that draw one. In the reference's child only.

A size of one is no axis of its own: it may be there to be broadcast. Where all inputs begin with a one, it is a batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kdata.verify.reference.probe import Prober, Run

SEVERAL = 2
DEAR = 5  # halves of what the base costs, that the larger batch may


def batched(prober: Prober, base: Mapping[str, int], ones: Sequence[str]) -> tuple[dict[str, int], Run] | None:
    """Sizes with a batch of ``SEVERAL``, and what the reference does there; None where there is none of one.

    ``ones``: the names of sizes that are one.
    """
    own = prober.forward(base)
    if own is None:
        return None
    leading: dict[str, set[int]] = {name: _begun(own, prober.shapes(dict(base) | {name: SEVERAL})) for name in ones}
    begun = set[int]().union(*leading.values())
    if not begun or any(n not in begun for n, shape in enumerate(own.shapes) if len(shape) > 1 or shape == (1,)):
        return None
    values = dict(base) | {name: SEVERAL for name, places in leading.items() if places}
    run = prober.forward(values)
    if run is None or run.cost.work > DEAR * own.cost.work // 2 or own.degenerates(run):
        return None
    return values, run


def _begun(own: Run, other: Run | None) -> set[int]:
    """Which inputs begin with a one that is another number in ``other``; none if anything else differs there."""
    if other is None or other.arguments != own.arguments or len(other.shapes) != len(own.shapes):
        return set()
    changed = {n for n, (a, b) in enumerate(zip(own.shapes, other.shapes, strict=True)) if a != b}
    alike = all(own.shapes[n][:1] == (1,) and other.shapes[n] == (SEVERAL, *own.shapes[n][1:]) for n in changed)
    return changed if alike else set()
