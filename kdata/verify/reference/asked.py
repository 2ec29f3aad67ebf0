"""Inputs that hold what the reference itself asks about, and integers that are large. In the reference's child only.

A task draws labels that all count, numbers that all are numbers and integers that are small. A reference that compares
labels with -1, or replaces NaN, says what the answer is where they are not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from kdata.verify.reference.draws import NARROW, draw
from kdata.verify.reference.questions import Asks
from kdata.verify.reference.values import computes, ends, integral, sizes_of

SHARE = 0.125  # of an input's elements that are replaced
MOST = 8  # numbers that are tried
TRIED = 3  # elements that are left as they are, one after another
TRUE = (1, 2, 4)  # numbers that stand for true; in signed integers less these, too
ODD = 5  # by which integers are told apart that are to differ in their last places only
# Of what integers are multiplied by: no multiples of a power of two alone, which fewer bits hold, too, and none of one
# number, as which they would be to each other what small ones are: Euclid's algorithm takes few steps with those.
GOLDEN = 0x61C88647
MASKS = -1e3  # what is added where something does not count is this much at least: beyond it exp(x) is nothing
FINE = 1 << 24  # beyond it float32 does not hold every integer
STEP = 8  # by which integers that can be made large can be multiplied at least
LITTLE = (8, 4, 2)  # by which they are where more is too much; first by the least, to see whether shapes follow
# Bits of the largest integers, the first that a reference bears: beyond 32 where its answer is, too; such that sums of
# some are, and labels that are cast to so many are not; and what half precision does not hold.
BITS = (40, 28, 16, 12)
Change = Callable[[list[Any]], list[Any] | None]


def changes(inputs: list[Any], asks: Asks, generator: torch.Generator) -> Iterator[Change]:
    """What to change in the inputs, one by one: zeros' signs, numbers asked about, truths, NaN and infinities."""
    if asks.signs:
        yield lambda held: _zeros(held, generator)
    yield from replaced(inputs, sorted(asks.numbers)[:MOST], generator)
    if asks.truths:
        yield lambda held: _truths(held, generator)
    if asks.oddities:
        yield lambda held: draw("nonfinite", held, generator)


def replaced(
    inputs: list[Any], numbers: list[int], generator: torch.Generator, but: frozenset[int] = frozenset()
) -> Iterator[Change]:  # fmt: skip
    """For each number and each input of integers, but for these: some of its elements become that number.

    Ends of what lies one after another stay as they are.
    """
    leaves = tree_leaves(inputs)
    sizes = sizes_of(leaves)
    places = [n for n, t in enumerate(leaves) if integral(t) and n not in but and not ends(t, sizes)]
    for number in numbers:
        yield from (partial(_with, place=place, number=number, generator=generator) for place in places)


def lone(inputs: list[Any], asks: Asks, generator: torch.Generator) -> Iterator[Change]:
    """For each number that the reference asks about and each input that holds it: all of it but for one, of a few."""
    leaves = tree_leaves(inputs)
    sizes = sizes_of(leaves)
    for number in [*sorted(asks.ignored), *sorted(asks.numbers)][:MOST]:
        for place, leaf in enumerate(leaves):
            holds = integral(leaf) and bool((leaf == number).any()) and not ends(leaf, sizes)
            others = (leaf != number).nonzero() if holds else torch.empty(0)
            for turn in torch.randperm(len(others), generator=generator)[:TRIED] if len(others) > 1 else ():
                kept = tuple(others[turn].tolist())
                value = torch.full_like(leaf, number)
                value[kept] = leaf[kept]
                yield partial(_put, place=place, value=value)


def larger(
    inputs: list[Any], generator: torch.Generator, lengths: frozenset[int] = frozenset()
) -> Iterator[list[Change]]:  # fmt: skip
    """For each input of integers beyond zero and one how it is made a little larger, and then how very large.

    Those of one value keep one, and all keep their order; zeros stay.  Narrow ones are drawn anew from all that are not
    negative, or from all where some are: what is between two of them may be more than either holds.  Ends of what lies
    one after another stay as they are, and so do those in the places of ``lengths``.
    """
    leaves = tree_leaves(inputs)
    sizes = sizes_of(leaves)
    for place, leaf in enumerate(leaves):
        if integral(leaf) and int(leaf.abs().max()) > 1 and not ends(leaf, sizes) and place not in lengths:
            if torch.iinfo(leaf.dtype).bits <= NARROW:
                anew = partial(_anew, place=place, generator=generator)
                yield [anew, anew]
                continue
            bits = dict.fromkeys(min(most, torch.iinfo(leaf.dtype).bits - 2) for most in BITS)
            factors = [(1 << most) // (int(leaf.abs().max()) + 1) // 2 * 2 for most in bits]
            if factors[0] > STEP:
                times = (LITTLE[-1], *(n for n in factors if n > STEP), *LITTLE)
                yield [partial(_put, place=place, value=_spread(leaf, n)) for n in times]


def adjacent(inputs: list[Any], _: torch.Generator) -> Iterator[Change]:
    """For each input of integers that float32 does not hold: such as differ in their last places only.

    Beyond 32 bits, such as are equal in these, or differ in them only.
    """
    leaves = tree_leaves(inputs)
    sizes = sizes_of(leaves)
    for place, leaf in enumerate(leaves):
        if integral(leaf) and not ends(leaf, sizes) and (most := int(leaf.max())) > FINE:
            low = leaf % ODD
            value = low + (leaf // ODD % 3 << 32) if most >> 34 else most - low
            yield partial(_put, place=place, value=value)


def looked_up(inputs: list[Any], tables: list[Any], generator: torch.Generator) -> Iterator[Change]:
    """For each input of integers, drawn from all rows of the largest table first: as many as a table has.

    The first row, which stands for no word as often as not, is among them, and so is the last one. Ends of what lies
    one after another stay.
    """
    leaves = tree_leaves(inputs)
    sizes = sizes_of(leaves)
    rows = sorted({len(t) for t in tree_leaves(tables) if computes(t) and t.ndim > 1}, reverse=True)
    for place, leaf in enumerate(leaves):
        for most in rows if integral(leaf) and not ends(leaf, sizes) else ():
            least, beyond = int(leaf.min()), int(leaf.max()) + 1
            if least >= 0 and (beyond < most or least > 0 and beyond == most) and most <= torch.iinfo(leaf.dtype).max:
                drawn = torch.randint(0, most, leaf.shape, generator=generator).to(leaf.dtype)
                drawn.view(-1)[drawn.numel() // 3] = most - 1
                drawn.view(-1)[drawn.numel() // 2] = 0
                yield partial(_put, place=place, value=drawn)


def emptied(inputs: list[Any], generator: torch.Generator) -> Iterator[Change]:
    """For each input that says where sequences end: one in the middle of them has nothing in it."""
    leaves = tree_leaves(inputs)
    sizes = sizes_of(leaves)
    for place, leaf in enumerate(leaves):
        if ends(leaf, sizes) and len(leaf) > 2 and bool((leaf.diff() > 0).all()):
            chosen = int(torch.randint(1, len(leaf) - 1, (), generator=generator))
            value = leaf.clone()
            value[chosen] = value[chosen - 1]
            yield partial(_put, place=place, value=value)


def negated(inputs: list[Any], generator: torch.Generator) -> Iterator[Change]:
    """For each input of integers beyond zero and one, none of them negative: more than half of it negative.

    Ends of what lies one after another stay as they are.
    """
    leaves = tree_leaves(inputs)
    sizes = sizes_of(leaves)
    for place, leaf in enumerate(leaves):
        signed = integral(leaf) and leaf.dtype.is_signed and not ends(leaf, sizes)
        if signed and int(leaf.min()) >= 0 and int(leaf.max()) > 1:
            yield partial(_negated, place=place, generator=generator)


def wrapped(inputs: list[Any], generator: torch.Generator) -> Iterator[Change]:
    """For each input of integers that may be places: half of them as far from the end, whatever the table's size."""
    for place, leaf in enumerate(tree_leaves(inputs)):
        if integral(leaf) and leaf.dtype.is_signed and leaf.numel() and int(leaf.min()) >= 0:
            back = torch.rand(leaf.shape, generator=generator) < 0.5
            back.view(-1)[-1] = True
            yield partial(_put, place=place, value=torch.where(back, ~leaf, leaf))


def repeated(inputs: list[Any], generator: torch.Generator) -> Iterator[Change]:
    """For each input of integers that all differ, and are in no order: some of them twice and more.

    Numbers in order are positions, or ends of what lies one after another.
    """
    for place, leaf in enumerate(tree_leaves(inputs)):
        if integral(leaf) and (flat := leaf.reshape(-1)).unique().numel() == flat.numel() > 2 and _mixed(flat):
            yield partial(_repeated, place=place, generator=generator)


def reordered(inputs: list[Any], generator: torch.Generator) -> Iterator[Change]:
    """For each input of integers that are in order, or the same in all rows: each row in an order of its own.

    So are those in reverse, and others that swap places: an order that is its own inverse does not show who takes the
    one for the other.
    """
    for place, leaf in enumerate(tree_leaves(inputs)):
        if integral(leaf) and leaf.ndim and leaf.shape[-1] > 2:
            rows = leaf.reshape(-1, leaf.shape[-1])
            alike = len(rows) > 1 and bool((rows == rows[0]).all() and (rows[0] != rows[0, 0]).any())
            if alike or _own_inverse(rows):
                yield partial(_put, place=place, value=_permuted(leaf, generator))


def ungrouped(inputs: list[Any], generator: torch.Generator) -> Iterator[Change]:
    """For each input of sorted integers of which some are equal, as the groups of rows are: these in no order.

    Numbers from zero to the size of an input are ends of what lies one after another, which have no other order.
    """
    leaves = tree_leaves(inputs)
    sizes = sizes_of(leaves)
    for place, leaf in enumerate(leaves):
        if integral(leaf) and leaf.ndim and int(leaf.max()) not in sizes:
            steps = leaf.diff(dim=-1)
            if bool((steps >= 0).all() and (steps == 0).any() and (steps > 0).any()):
                yield partial(_put, place=place, value=_permuted(leaf, generator))


def lowered(inputs: list[Any], generator: torch.Generator) -> Iterator[Change]:
    """For each input of integers that are one number, as lengths that fill all: none larger, the largest first.

    And of those above zero that all are multiples of one number, as lengths that fill whole pages: each less by some.
    """
    leaves = tree_leaves(inputs)
    sizes = sizes_of(leaves)
    for place, leaf in enumerate(leaves):
        if not integral(leaf) or leaf.numel() < 2 or int(leaf.min()) < 1:
            continue
        least, most = int(leaf.min()), int(leaf.max())
        if least == most > 1:
            drawn = torch.randint(1, most + 1, (leaf.numel(),), generator=generator).sort(descending=True).values
            drawn[0], drawn[-1] = most, min(int(drawn[-1]), most - 1)
            yield partial(_put, place=place, value=drawn.to(leaf.dtype).reshape(leaf.shape))
        elif not ends(leaf, sizes) and (pages := math.gcd(*leaf.flatten().tolist())) > 1:
            less = torch.randint(0, pages, leaf.shape, generator=generator)
            less.view(-1)[-1] = pages - 1
            yield partial(_put, place=place, value=leaf - less.to(leaf.dtype))


def typed(inputs: list[Any], generator: torch.Generator) -> Iterator[Change]:
    """For each input of integers that are all zero, as of types or offsets: ones among them."""
    for place, leaf in enumerate(tree_leaves(inputs)):
        if integral(leaf) and leaf.numel() > 1 and not leaf.any():
            drawn = torch.randint(0, 2, leaf.shape, generator=generator).to(leaf.dtype)
            drawn.view(-1)[-1] = 1
            yield partial(_put, place=place, value=drawn)


def ended(inputs: list[Any], generator: torch.Generator) -> Iterator[Change]:
    """For each floating input of numbers between zero and one: some of them are these, as sums that round may be."""
    for place, leaf in enumerate(tree_leaves(inputs)):
        if computes(leaf) and _between(leaf):
            drawn = torch.rand(leaf.shape, generator=generator)
            some = leaf.masked_fill(drawn < SHARE, 0.0).masked_fill(drawn > 1 - SHARE, 1.0)
            yield partial(_put, place=place, value=some)


def filled(inputs: list[Any], generator: torch.Generator) -> Iterator[Change]:
    """For each floating input that is a state at its beginning: any numbers instead, if need be positive ones.

    Such are zeros only, and matrices that change nothing.
    """
    for place, leaf in enumerate(tree_leaves(inputs)):
        if computes(leaf) and leaf.numel() > 1 and (not leaf.any() or _identity(leaf)):
            for drawn in (torch.rand, torch.randn):  # the last one that is borne counts
                yield partial(_put, place=place, value=drawn(leaf.shape, generator=generator).to(leaf.dtype))


def eased(inputs: list[Any], generator: torch.Generator) -> Iterator[Change]:
    """For each floating input of zeros and one number far below, as added masks are: numbers of usual size beside."""
    for place, leaf in enumerate(tree_leaves(inputs)):
        if computes(leaf) and float(leaf.min()) < MASKS and bool(((leaf == 0) | (leaf == leaf.min())).all()):
            numbers = torch.randn(leaf.shape, generator=generator).to(leaf.dtype)
            chosen = torch.rand(leaf.shape, generator=generator) < SHARE
            yield partial(_put, place=place, value=torch.where(chosen, numbers, leaf))


def _spread(leaf: Tensor, times: int) -> Tensor:
    """The integers times an even number, and less than that for each beside it: equal ones are equal, odd ones odd."""
    return torch.where(leaf == 0, leaf, leaf * times + (leaf * GOLDEN).remainder(times))


def _between(leaf: Tensor) -> bool:
    return bool(((leaf >= 0) & (leaf <= 1)).all() and (leaf != leaf.round()).any())


def _own_inverse(rows: Tensor) -> bool:
    """Whether each row says for every place another one, and that one says it back; or itself."""
    places = torch.arange(rows.shape[-1])
    orders = bool((rows.sort(-1).values == places).all())
    return orders and bool((rows.gather(-1, rows.long()) == places).all())


def _permuted(leaf: Tensor, generator: torch.Generator) -> Tensor:
    """Each row in an order of its own."""
    return leaf.gather(-1, torch.rand(leaf.shape, generator=generator).argsort(-1))


def _identity(leaf: Tensor) -> bool:
    """Whether it is identity matrices, or their first columns, as of transforms that change nothing."""
    several = leaf.ndim > 1 and min(leaf.shape[-2:]) > 1
    return several and bool((leaf == torch.eye(*leaf.shape[-2:], dtype=leaf.dtype)).all())


def _put(inputs: list[Any], place: int, value: Tensor) -> list[Any]:
    leaves, form = tree_flatten(inputs)
    leaves[place] = value
    changed: list[Any] = tree_unflatten(leaves, form)
    return changed


def _with(inputs: list[Any], place: int, number: int, generator: torch.Generator) -> list[Any] | None:
    leaves, form = tree_flatten(inputs)
    limits = torch.iinfo(leaves[place].dtype)
    if not limits.min <= number <= limits.max:
        return None
    chosen = torch.rand(leaves[place].shape, generator=generator) < SHARE
    chosen.view(-1)[chosen.numel() // 2] = True
    leaves[place] = leaves[place].masked_fill(chosen, number)
    changed: list[Any] = tree_unflatten(leaves, form)
    return changed


def _negated(inputs: list[Any], place: int, generator: torch.Generator) -> list[Any]:
    leaves, form = tree_flatten(inputs)
    signs = 2 * torch.randint(0, 2, leaves[place].shape, generator=generator) - 1
    for dim, size in enumerate(signs.shape):  # whole rows and columns are below zero
        signs.narrow(dim, 0, size // 3).fill_(-1)
    leaves[place] = leaves[place] * signs.to(leaves[place].dtype)
    changed: list[Any] = tree_unflatten(leaves, form)
    return changed


def _anew(inputs: list[Any], place: int, generator: torch.Generator) -> list[Any]:
    leaves, form = tree_flatten(inputs)
    most = torch.iinfo(leaves[place].dtype).max
    least = -most if int(leaves[place].min()) < 0 else 0
    leaves[place] = torch.randint(least, most + 1, leaves[place].shape, generator=generator).to(leaves[place].dtype)
    changed: list[Any] = tree_unflatten(leaves, form)
    return changed


def _mixed(flat: Tensor) -> bool:
    steps = flat[1:] - flat[:-1]
    return bool((steps > 0).any() and (steps < 0).any())


def _repeated(inputs: list[Any], place: int, generator: torch.Generator) -> list[Any]:
    leaves, form = tree_flatten(inputs)
    flat = leaves[place].reshape(-1)
    chosen = torch.randint(0, -(-flat.numel() // 2), flat.shape, generator=generator)
    leaves[place] = flat[chosen].reshape(leaves[place].shape)
    changed: list[Any] = tree_unflatten(leaves, form)
    return changed


def _truths(inputs: list[Any], generator: torch.Generator) -> list[Any] | None:
    """In inputs of zeros and ones the ones become other numbers that are true; None where there are none."""
    leaves, form = tree_flatten(inputs)
    places = [n for n, leaf in enumerate(leaves) if integral(leaf) and set(leaf.unique().tolist()) <= {0, 1}]
    for place in places:
        leaf = leaves[place]
        numbers = torch.tensor([s * n for n in TRUE for s in ((1, -1) if leaf.dtype.is_signed else (1,))])
        drawn = numbers[torch.randint(0, len(numbers), leaf.shape, generator=generator)].to(leaf.dtype)
        leaves[place] = leaf * drawn
    changed: list[Any] = tree_unflatten(leaves, form)
    return changed if places else None


def _zeros(inputs: list[Any], generator: torch.Generator) -> list[Any]:
    """Some elements become zero, of either sign."""

    def change(tensor: Any) -> Any:
        if not computes(tensor):
            return tensor
        drawn = torch.rand(tensor.shape, generator=generator)
        return tensor.masked_fill(drawn < 2 * SHARE, 0.0).masked_fill(drawn < SHARE, -0.0)

    changed: list[Any] = tree_map(change, inputs)
    return changed


CHANGED: dict[str, Callable[[list[Any], torch.Generator], Iterator[Change]]] = {
    "reordered": reordered, "lowered": lowered, "ones": typed, "ends": ended, "emptied": emptied, "grouped": ungrouped,
    "adjacent": adjacent, "eased": eased, "filled": filled, "wrapped": wrapped,
}  # fmt: skip
