"""Counts of calls as high as after very many, without these calls. In the reference's child only.

A schedule's first hundred steps are nearly a line, and a correction of moments has not faded by then. Where all that a
call changes are counts, or where no integer is a place or says how many, the state after a million calls is as good as
known. Not so where a call changes a part of what it keeps: that part's place may be what is counted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_leaves

from kdata.verify.reference.values import near, same
from kdata.verify.reference.weights import counts

CALLS = (1_000, 10_000, 100_000, 1_000_000)
HALF = 0.5  # of a tensor's elements
VISIBLE = 0.01  # relative change of an answer that shows whatever the tolerance
State = dict[str, Any]


def aged(
    style: str, state: State, trained: Collection[str], answer: Callable[..., tuple[Any, Any, Any]], places: bool
) -> list[State]:  # fmt: skip
    """The state after so many calls that the next one shows it, the fewest first, or for ``oldest`` the most.

    ``answer``: what the reference answers in a state, and its module. ``places``: whether an integer may be a place.
    """

    def call(state: State) -> tuple[Any, State]:
        outputs, module, _ = answer(state)
        return outputs, dict(module.state_dict())

    usual, after = call(state)
    changed = [n for n, value in after.items() if n not in trained and not same(value, state[n])]
    steps = {n: after[n] - state[n] for n in changed if _grows(state[n], after[n])}
    others = [n for n in changed if n not in steps]
    alone = not others or (not places and all(_throughout(state[n], after[n]) for n in others))
    found: list[State] = []
    for calls in CALLS if steps and alone else ():
        older = state | {n: state[n] + calls * step for n, step in steps.items()}
        held = all(float(older[n]) == float(state[n]) + calls * float(step) for n, step in steps.items())
        with contextlib.suppress(Exception):  # there are no so many, of a table's rows say
            made, left = call(older)
            one, other = [usual, [after[n] for n in others]], [made, [left[n] for n in others]]
            if held and _shapes(one) == _shapes(other) and not near(one, other, VISIBLE):
                found.append(older)
    return found if style == "aged" else found[::-1]


def _grows(before: Any, after: Any) -> bool:
    return counts(before) and counts(after) and bool(after > before)


def _throughout(before: Any, after: Any) -> bool:
    """Whether most of a tensor changed, as means do that run along."""
    alike = isinstance(before, Tensor) and isinstance(after, Tensor) and before.shape == after.shape
    return alike and float((before != after).double().mean()) > HALF


def _shapes(answer: Any) -> list[Any]:
    return [t.shape for t in tree_leaves(answer) if isinstance(t, Tensor)]
