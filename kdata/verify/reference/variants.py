"""Which sizes a task is tried at: its own scaled down, odd and prime ones, ones, and more. In the reference's child.

What may vary is found by trying: an integer literal is an *axis* if changing it (alone, or with others of equal value)
changes the shapes of the inputs and the reference still runs.  Integers that decide parameters only are kept, unless
the work would be too large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations

from kdata.task import sizes
from kdata.verify.options import Concession
from kdata.verify.reference import axes as axis_finder
from kdata.verify.reference.axes import LITERAL, Axis, Values, value_of
from kdata.verify.reference.batches import batched
from kdata.verify.reference.probe import Prober, Run
from kdata.verify.reference.scaled import TooLargeError, scaled
from kdata.verify.reference.slack import on_purpose
from kdata.verify.reference.styles import BATCH, SINGLE, TAILED, TALL

VARIED = 50_000  # what ``scaled.WORK`` is for the base one: other sizes fill blocks badly
GROWN = 1 << 18  # elements up to which the sizes of a small task are raised
ONES = 8  # sizes of one that are tried as batches
DEPTH = re.compile(r"(num_|n_)?(layers|depth|blocks|stages|stacks)")  # how often, not how large; so is a literal one
ODD = (
    3,
    5,
    7,
    11,
    13,
    17,
    19,
    23,
    29,
    31,
    37,
    67,
    9,
    15,
    21,
    27,
    33,
    6,
    10,
    12,
    18,
    20,
    24,
    28,
    36,
    40,
    48,
    56,
    72,
    80,
    96,
)
# The first two are such that n times the float32 next to 1/n is less than 1: no index is to be divided so.
LONG = (141, 61, 37, 29, 19, 13, 11, 7, 5, 3, *ODD)
PLANES = (11, 5, 7, *ODD)  # of the axis before that one: so are the first two times 141, and the third times 61
VERY_LONG = (1031, 257, *LONG)
POWERS = (64, 32, 16, 128)
GROUPS, GROUPED = (3, 2, 4), (6, 9, 4, 8, 12)
FEW = (2, 1, 3, 4)  # of all axes: less than what kernels shift by, or take off
# Of one axis, while the others are odd: multiples of what kernels use as blocks, and no less than any number of theirs
# that is not read otherwise (beyond.rescaled.LEAST).
EVEN = (512, 256, 128, 64, 32, 16)
ONCE = 3  # times what others may cost, for sizes of one draw
TURNS = 2  # axes from either end that are so, each in its turn
# Of the last axes, and of one alone: in all one element more than a multiple of most blocks, of which it has several.
TAILS: list[tuple[int, ...]] = [(3,), (683,)]
TAIL: list[tuple[int, ...]] = [(2049,)]
NEXT = (5, 3, 7), (6, 4, 8)  # of the last two axes
MIXED = (33, 20, 12, 10, 6, 9, 24, 65, 40, 15, 3, 5, 7)  # of all axes alike, for some take equal sizes for one


@dataclass(frozen=True, slots=True)
class Variant:
    """Sizes of one kind.

    ``kind``: "base", "odd", "one", "mixed", "uneven", "next", "tails", "few", "large"; "double" and "batch" decide
    nothing.
    """

    kind: str
    values: Values
    run: Run

    @property
    def label(self) -> str:
        """The sizes as receipts name them."""
        return ", ".join(f"{k}={v}" for k, v in self.values.items())


def plan(
    prober: Prober, count: int, thorough: bool = False, conceded: Concession = Concession()  # noqa: B008 - frozen
) -> list[Variant]:  # fmt: skip
    """The variants, the base one first, twice its size (not counted) last.

    That one is "large", a variant like the others, where it is cheap or ``thorough`` asks for it; else "double", run
    to diagnose failures only.

    Raises:
        TooLargeError: no sizes were found at which the reference runs and is small.
    """
    found = tuple(s for s in sizes(prober.source) if s.value > 1 and not DEPTH.fullmatch(s.name))
    prober.thrift, step = conceded.thrift, conceded.step
    base = scaled(prober, found)
    run = prober.forward(base)
    if run is None:
        raise TooLargeError("no small sizes were found at which the reference runs")
    chosen = [Variant("base", base, run)]
    prober.near = True
    axes = axis_finder.find(prober, base, found, conceded.together, on_purpose(prober, base, found))
    wide = axis_finder.widths(prober, base, axes, found) if conceded.powers else frozenset[Axis]()
    for kind, wishes in _wishes(axes, step)[: max(0, count - 1)]:
        _add(chosen, prober, kind, base, axes, _powers(axes, wide, wishes, len(chosen)))
    if thorough:
        for order, wishes in [*_uneven(axes, step), *_grouped(axes, step)]:
            _add(chosen, prober, "uneven", base, order, _powers(order, wide, wishes, len(chosen)), ONCE)
        if len(axes) > 1:
            _add(chosen, prober, "next", base, axes, _powers(axes, wide, _next(axes, step), len(chosen)))
        if axes:
            _add(chosen, prober, TALL, base, *_tall(axes, step), ONCE)
        if axes and step == 1:
            tails = TAIL if len(axes) == 1 else [*[(1,)] * (len(axes) - 2), *TAILS]
            _add(chosen, prober, TAILED, base, axes, _powers(axes, wide, tails, len(chosen)), ONCE)
        few = _powers(axes, wide, [tuple(n * step for n in FEW)] * len(axes), len(chosen))
        _add(chosen, prober, "few", base, axes, few)
        # A row of one is none that a descriptor describes: an interpreter refuses it, a GPU reads something else.
        for axis in _alone(prober, base, axes) if step == 1 else ():
            _add_single(chosen, prober, base, axis, {a: w for a, w in zip(axes, few, strict=True) if a != axis})
        ones = [s.name for s in sizes(prober.source) if s.value == 1 and LITERAL in s.name][:ONES]
        if found_batch := batched(prober, base, ones):
            chosen.append(Variant(BATCH, *found_batch))
    count = len(chosen)
    _add(chosen, prober, "double", base, axes, [(2 * value_of(a[0], base, found),) for a in axes], 16)
    if len(chosen) > count and (thorough or chosen[-1].run.cost.work <= VARIED // conceded.thrift):
        chosen[-1] = replace(chosen[-1], kind="large")
    return chosen


def grown(prober: Prober, last: Variant) -> Values | None:
    """The axes of the variant that doubles them, as many times their size as costs little; or None.

    Just short of powers of two, and of no whole number of blocks, where a task bears that: there are many blocks along
    each axis and the last of each is not full, in a corner those of two axes.  What is equal stays so.
    """
    if last.kind not in ("double", "large"):
        return None
    for factor in (16, 8, 4):
        powers = {name: factor << (size // 2 - 1).bit_length() for name, size in last.values.items()}
        run = prober.forward(powers, real=False)
        if run is None or max(run.elements, run.cost.largest, run.cost.work // 4) > GROWN:
            continue
        short = ({name: power - power // 16 - less for name, power in powers.items()} for less in (1, 2))
        return next((values for values in short if prober.forward(values, real=False) is not None), powers)
    return None


def varying(source: str, variants: list[Variant]) -> Values:
    """The axes of the variant that doubles them, with the task's own sizes."""
    base, last = variants[0].values, variants[-1]
    own = {size.name: size.value for size in sizes(source)}
    doubled = last.values.items() if last.kind in ("double", "large") else ()
    return {name: own[name] for name, value in doubled if value != base.get(name, own[name])}


def _wishes(axes: list[Axis], step: int) -> list[tuple[str, list[tuple[int, ...]]]]:
    """For each kind of variant and each axis, the values to try, best first."""
    last = len(axes) - 1
    long = VERY_LONG if last == 0 else LONG
    odd = [long if i == last else PLANES if i == last - 1 else tuple(ODD[i % 3 :]) for i in range(len(axes))]
    one = [(1, 2, 3, 5) if i == 0 else tuple(ODD[(i + 1) % 4 :]) for i in range(len(axes))]
    mixed: list[tuple[int, ...]] = [MIXED] * len(axes)
    steps = [step if last == 0 or i else 1 for i in range(len(axes))]
    kinds = (("odd", odd), ("one", one), ("mixed", mixed))
    return [(kind, [tuple(v * s for v in w) for w, s in zip(wishes, steps, strict=True)]) for kind, wishes in kinds]


def _uneven(axes: list[Axis], step: int) -> Iterator[tuple[list[Axis], list[tuple[int, ...]]]]:
    """One axis long and a multiple of blocks, all others odd and short, each in its turn: axes and values to try.

    A kernel without masks where ``rows % 16 == 0`` is wrong where that holds and its columns end within a block; one
    that forgets what it did in an earlier block is wrong where the axis that it runs along has several.
    """
    count = len(axes)
    for turn in (i for i in range(count) if min(i, count - 1 - i) < TURNS and count > 1):
        others = [*axes[:turn], *axes[turn + 1 :]]  # which leave it what may be done
        short = [(1, 3, 5, 2)] * (count - 2) + [ODD]
        wishes = [tuple(value * step for value in values) for values in (*short, EVEN)]
        yield [*others, axes[turn]], wishes


def _tall(axes: list[Axis], step: int) -> tuple[list[Axis], list[tuple[int, ...]]]:
    """The first axis so long that a sum over it, as gradients of weights are, has more terms than most blocks hold."""
    short = [tuple(value * step for value in (3, 5, 7, 2, 4, 8))] * (len(axes) - 1)
    long = VERY_LONG if short else tuple(value * step for value in VERY_LONG)
    return [*axes[1:], *axes[:1]], [*short, long]


def _grouped(axes: list[Axis], step: int) -> Iterator[tuple[list[Axis], list[tuple[int, ...]]]]:
    """Sizes that may be multiples of others, or equal to them, as such: more heads of queries than of keys."""
    for alone, tied in permutations(axes, 2):
        if set(alone) < set(tied):
            yield [tied, alone], [tuple(n * step for n in GROUPS), tuple(n * step for n in GROUPED)]


def _next(axes: list[Axis], step: int) -> list[tuple[int, ...]]:
    """The last axis one more than that before it: what takes nearly square images for square is wrong there."""
    return [tuple(n * step for n in wish) for wish in ([(1, 2, 3)] * (len(axes) - 2) + [*NEXT])]


def _alone(prober: Prober, base: Values, axes: list[Axis]) -> Iterator[Axis]:
    """The last axis, if it may be one, and such as leave no number to answer there: one element has no deviation."""
    for axis in axes:
        run = prober.forward(base | dict.fromkeys(axis, 1))
        if run is not None and (run.undefined or axis == axes[-1]):
            yield axis


def _powers(axes: list[Axis], wide: frozenset[Axis], wishes: list[tuple[int, ...]], turn: int) -> list[tuple[int, ...]]:
    """The wishes, with powers of two for the axes that are to have no others, another one first in each turn."""
    first = turn % len(POWERS)
    powers = POWERS[first:] + POWERS[:first]
    return [powers if axis in wide else wish for axis, wish in zip(axes, wishes, strict=True)]


def _add(
    chosen: list[Variant],
    prober: Prober,
    kind: str,
    base: Values,
    axes: list[Axis],
    wishes: list[tuple[int, ...]],
    times: int = 1,
) -> None:
    """Add a variant of sizes as wished for, as far as the reference bears these, if it is another one."""
    _append(chosen, prober, kind, _assigned(chosen[0].run, prober, base, axes, wishes, times))


def _add_single(
    chosen: list[Variant], prober: Prober, base: Values, axis: Axis, others: dict[Axis, tuple[int, ...]]
) -> None:  # fmt: skip
    """Add one at which this axis is one, whether or not the reference has a number to answer there."""
    first = chosen[0].run
    values = _assigned(first, prober, base, [*others], [*others.values()])
    values = _assigned(first, prober, values, [axis], [(1,)], unless_undefined=True)
    if values.get(axis[0]) == 1:
        _append(chosen, prober, SINGLE, values)


def _append(chosen: list[Variant], prober: Prober, kind: str, values: Values) -> None:
    run = prober.forward(values)
    if run is not None and all(v.run.shapes != run.shapes or v.run.arguments != run.arguments for v in chosen):
        chosen.append(Variant(kind, values, run))


def _assigned(
    first: Run, prober: Prober, base: Values, axes: list[Axis], wishes: list[tuple[int, ...]], times: int = 1,
    unless_undefined: bool = False,
) -> Values:  # fmt: skip
    """Assign the axes one after another, each to its first wish with which the reference still runs and is small.

    ``times`` as large as others may be; ``unless_undefined``: see ``Run.degenerates``.
    """
    values = dict(base)
    work, largest = (times * max(VARIED // prober.thrift, n * 3 // 2) for n in (first.cost.work, first.cost.largest))
    for axis, wish in zip(axes, wishes, strict=True):
        for value in wish:
            tried = values | dict.fromkeys(axis, value)
            run = prober.forward(tried)
            if run is not None and first.degenerates(run, unless_undefined):  # halves ought to be halves there, too
                tried = values | dict.fromkeys(axis, 2 * value)
                run = prober.forward(tried)
            if run is None or run.cost.work > work or run.cost.largest > largest:
                continue
            if not first.degenerates(run, unless_undefined):
                values = tried
                break
    return values
