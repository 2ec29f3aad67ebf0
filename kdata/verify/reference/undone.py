"""A last step of a recurrence that undoes what those before it did. In the reference's child.

A state that is carried in half precision, where the reference carries it in single precision, is off by less than an
answer in half precision may be. Where the last of what goes into it takes it back to next to nothing, what was lost of
it on the way is large beside what is left. That last one is found by asking the reference: its answer there is to
follow from it element by element, and with the same slope anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference.draws import draw, labels
from kdata.verify.reference.probe import HALVES, PRODUCTS
from kdata.verify.reference.slow import REPEATS, Steps
from kdata.verify.reference.values import computes, finite

LESS = 16.0  # times as large is what is undone as what is left of it
RIGHT = 0.02  # of what is left, by which the reference itself is off at most
FEWEST = 16  # elements of a step
MOST = 1 << 10  # the largest number that undoes
FLAT = 1e-2  # slopes below it have none
SINGLE = 2.0**-23  # an ulp of one in single precision
OUTSIDE = 2  # steps that a recurrence may take before it is repeated
Answer = Callable[[list[Any]], Any]


@dataclass(frozen=True, slots=True)
class Undone:
    """Inputs, the dimension along which their steps lie, and the answer with what single precision loses of a state.

    None for the dimension where the answer is that of the last step alone.
    """

    inputs: list[Any]
    dim: int | None
    rounded: Any


def undone(inputs: list[Any], eager: Answer, golden: Answer, generator: torch.Generator) -> Undone | None:
    """Such inputs; None where nothing of half precision goes into a recurrence step by step, element by element.

    ``eager`` and ``golden`` answer to inputs like these. With gates that are open, if there are, nothing fades.
    """
    if not any(computes(t) and t.dtype in HALVES for t in tree_leaves(inputs)):
        return None
    with Steps() as steps:
        eager(inputs)
    names, count = steps.repetition()
    if not names or any(part in name for name in names for part in PRODUCTS):
        return None
    for style in ("lifted", "raised", "natural"):
        held = draw(style, inputs, generator)
        if held is None or any(not isinstance(t, Tensor) for t in held):
            continue
        for place, dim, end in _places(held, count):
            try:
                found = _solved(held, place, dim, end, eager, golden)
            except Exception:  # noqa: BLE001 - outside its domain
                found = None
            if found is not None:
                return found
    return None


def _places(inputs: Sequence[Any], count: int) -> Iterator[tuple[int, int, int]]:
    """Which input, along which dimension, and which of its ends; one that has about so many elements there."""
    still = labels(inputs)
    for place, t in enumerate(inputs):
        if computes(t) and t.dtype in HALVES and place not in still:
            dims = [dim for dim, size in enumerate(t.shape) if size >= REPEATS and 0 <= size - count <= OUTSIDE]
            yield from ((place, dim, end) for dim in dims for end in (-1, 0))


def _solved(inputs: list[Any], place: int, dim: int, end: int, eager: Answer, golden: Answer) -> Undone | None:
    """The inputs with that end of one such that the answer there is next to nothing; None where none is found."""
    shape = inputs[place].shape

    def there(answer: Any) -> Tensor:
        made = next(t for t in tree_leaves(answer) if computes(t))
        if made.shape == shape:
            return made.select(dim, end).double()
        if made.shape == (*shape[:dim], *shape[dim + 1 :]):
            return made.double()
        raise ValueError("of another shape")

    def ending(value: Any) -> list[Any]:
        changed = inputs[place].clone(memory_format=torch.contiguous_format)
        changed.select(dim, end).copy_(torch.as_tensor(value))
        return [*inputs[:place], changed, *inputs[place + 1 :]]

    without, slope = (there(golden(ending(value))) for value in (0.0, 1.0))
    slope = slope - without
    if bool((slope.abs() < FLAT).any()):
        return None
    undoing = -without / slope
    found = ending(undoing) if float(undoing.abs().max()) < MOST else None
    if found is None or not finite(answer := eager(found)):
        return None
    made = [t for t in tree_leaves(answer) if computes(t)]
    if any(t.dtype not in HALVES or t.shape != made[0].shape for t in made):  # single precision shows what it loses
        return None
    left, right = there(answer), there(golden(found))
    if left.numel() < FEWEST:  # what is left of few may be far less than what is left of others
        return None
    size = _size(right)
    if not LESS * size < _size(without) or not _size(left - right) < RIGHT * size:
        return None
    lost = SINGLE * shape[dim] * _size(without)
    along = dim if made[0].shape == shape else None
    return Undone(found, along, tree_map(lambda t: t + lost if computes(t) else t, answer))


def _size(tensor: Tensor) -> float:
    return float(tensor.square().mean().sqrt())
