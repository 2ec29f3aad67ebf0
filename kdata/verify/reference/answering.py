"""Whether a reference gives an answer to inputs that no task draws, and a good one. In the reference's child only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference import asked, magnitudes
from kdata.verify.reference.values import computes, integral, kept_in, near

NOTHING, LEFT = 1e-5, 0.5  # below a hundred ulps of one, and of what is right the share that may be lost
VISIBLE = 0.01  # relative change of an answer that shows whatever the tolerance
FINITE = 0.5  # share of an answer that must stay finite when three elements of the inputs are not


def all_answered(
    measures: magnitudes.Measures, natural: list[Any], changes: Iterable[asked.Change], alike: list[Any] | None = None,
    finite: float = FINITE,
) -> list[Any] | None:  # fmt: skip
    """The inputs with all changes to which the reference gives an answer, see ``answers``; None for none."""
    inputs = natural
    for change in changes:
        tried = change(inputs)
        if tried is not None and answers(measures, tried, alike, finite):
            inputs = tried
    return None if inputs is natural else inputs


def enlarged(
    measures: magnitudes.Measures, natural: list[Any], generator: torch.Generator, lengths: frozenset[int]
) -> list[Any] | None:  # fmt: skip
    """Each input of integers as large as the reference bears, shapes being what they are; None where none grows.

    ``lengths``: places of those that stay as they are.
    """

    def bears(held: list[Any] | None) -> bool:
        if held is None or not (answers(measures, held, natural) and measures.steady(held)):
            return False
        return beyond_32_bits(measures.eager(held)) or not beyond_32_bits(held)

    inputs = natural
    for little, *more in asked.larger(natural, generator, lengths):
        if bears(little(inputs)):  # first: shapes may follow from values
            inputs = next((held for change in more if bears(held := change(inputs)) and held is not None), inputs)
    return None if inputs is natural else inputs


def beyond_32_bits(values: Any) -> bool:
    """Whether any of some values holds integers that 32 bits do not."""
    return any(integral(t) and int(t.abs().max()) >= 1 << 31 for t in tree_leaves(values))


def answers(
    measures: magnitudes.Measures, inputs: list[Any], alike: list[Any] | None = None, finite: float = FINITE
) -> bool:  # fmt: skip
    """Whether the reference gives an answer, most of it finite; with ``alike`` of its shapes, and the same in fp64."""
    try:
        eager, golden = measures.eager(inputs), measures.golden(inputs)
        usual = eager if alike is None else measures.eager(alike)
    except Exception:  # noqa: BLE001 - the task does not allow it
        return False
    made = [[kept_in(t) for t in tree_leaves(answer) if isinstance(t, Tensor)] for answer in (eager, golden, usual)]
    return (
        [t.shape for t in made[0]] == [t.shape for t in made[2]]
        and all(same_places(a, b) for a, b in zip(made[0], made[1], strict=True))
        and share_finite(eager) >= finite
        and (alike is None or near(eager, golden, measures.condition))
    )


def close(one: Tensor, golden: Tensor, share: float) -> bool:
    """Whether an answer is finite and, but for a share of its size, the golden one; integers are the same."""
    if not one.is_floating_point():
        return torch.equal(one, golden)
    one, golden = kept_in(one), kept_in(golden)
    finite = bool(torch.isfinite(one).all() and torch.isfinite(golden).all())
    return finite and float((one.double() - golden).norm()) <= share * float(golden.norm())


def lost(one: Tensor, golden: Tensor) -> bool:
    """Whether an answer is some ulps of one throughout that are not the golden one's: rounding has left nothing of it.

    So is what two shares differ by that are nearly equal.
    """
    few = one.is_floating_point() and one.numel() > 0 and float(kept_in(one).abs().max()) < NOTHING
    return few and not close(one, golden, LEFT)


def same_places(one: Tensor, other: Tensor) -> bool:
    """Whether NaN and infinities stand in the same places of two tensors."""
    return torch.equal(torch.isnan(one), torch.isnan(other)) and torch.equal(torch.isinf(one), torch.isinf(other))


def share_finite(outputs: Any) -> float:
    """The share of the floating outputs' elements that is finite, in the output where it is least; 1 without any."""
    made = [kept_in(t) for t in tree_leaves(outputs) if isinstance(t, Tensor) and t.is_floating_point() and t.numel()]
    return min((float(torch.isfinite(t).double().mean()) for t in made), default=1.0)


def adds(measures: magnitudes.Measures, inputs: list[Any]) -> bool:
    """Whether an answer follows the numbers of a mask, not only whether they are below zero, by half of each."""
    masks = [t for t in tree_leaves(inputs) if computes(t) and float(t.min()) < asked.MASKS]
    halved = tree_map(lambda t: t / 2 if any(t is mask for mask in masks) else t, inputs)
    return not near(measures.eager(inputs), measures.eager(halved), VISIBLE)
