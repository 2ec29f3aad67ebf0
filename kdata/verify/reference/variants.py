"""Which sizes a task is tried at: its own scaled down, odd and prime ones, ones, and more. In the reference's child.

What may vary is found by trying: an integer literal is an *axis* if changing it (alone, or with others of equal value)
changes the shapes of the inputs and the reference still runs.  Integers that decide parameters only are kept, unless
the work would be too large.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from kdata.task import Size, sizes
from kdata.verify import reasons
from kdata.verify.reference.batches import batched
from kdata.verify.reference.probe import Prober, Run

WORK = 120_000  # element operations of one forward that the interpreter does in about a tenth of a second
VARIED = 50_000  # the same for variants other than the base one, whose sizes fill blocks badly
LARGEST = 20_000  # elements of one tensor
GROWN = 1 << 18  # elements up to which the sizes of a small task are raised
MOST = 800  # times WORK: beyond it a task is too large to be interpreted at all
ROWS = 16
KEPT = 64  # integers up to this one that decide parameters only are never scaled down
STRUCTURE = 3  # times WORK: what keeping the integers that decide parameters only may cost
TIED = 6  # equal integers from this one on are taken to be equal on purpose
CAPS = (128, 64, 32, 16, 8, 4, 2)
ONES = 8  # sizes of one that are tried as batches
ALIKE = 3  # inputs of one shape from which on they are taken to have it on purpose
HEADED = 4  # dimensions of queries: batch, heads, length, width
LITERAL, ARGUMENT = "get_inputs[", "get_init_inputs["  # in the names of sizes that have none of their own
DEPTH = re.compile(r"(num_|n_)?(layers|depth|blocks|stages|stacks)")  # how often, not how large; so is a literal one
PROBES = 120  # runs spent on finding the axes
STEPS = ((1, 1), (2, 0), (3, 0), (1, 2), (1, 4))  # value * first + second
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
VERY_LONG = (1031, 257, *LONG)
FEW = (2, 1, 3, 4)  # of all axes: less than what kernels shift by, or take off
MIXED = (33, 20, 12, 10, 6, 9, 24, 65, 40, 15, 3, 5, 7)  # of all axes alike, for some take equal sizes for one

Values = dict[str, int]
Axis = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """Sizes; ``kind``: "base", "odd", "one", "mixed", "few", "large"; "double": to diagnose, "batch": to tell."""

    kind: str
    values: Values
    run: Run

    @property
    def label(self) -> str:
        """The sizes as receipts name them."""
        return ", ".join(f"{k}={v}" for k, v in self.values.items())


class TooLargeError(ValueError):
    """The task cannot be brought down to what an interpreter can do."""


def plan(
    prober: Prober, count: int, thorough: bool = False, step: int = 1, thrift: int = 1, together: bool = False
) -> list[Variant]:  # fmt: skip
    """The variants, the base one first, twice its size (not counted) last.

    That one is "large", a variant like the others, where it is cheap or ``thorough`` asks for it; else "double", run
    to diagnose failures only.  Other sizes are multiples of ``step``, but for those of the first of several axes.
    ``thrift``: by which everything is to cost less than usual, for kernels that take long.  ``together``: numbers of
    equal value in shapes stay equal, for kernels that refuse others: a text does not tell which are so by chance.

    Raises:
        TooLargeError: no sizes were found at which the reference runs and is small.
    """
    found = tuple(s for s in sizes(prober.source) if s.value > 1 and not DEPTH.fullmatch(s.name))
    prober.thrift = thrift
    base = _fewer_rows(prober, _base(prober, found), found)
    run = prober.forward(base)
    if run is None:
        raise TooLargeError("no small sizes were found at which the reference runs")
    chosen = [Variant("base", base, run)]
    prober.near = True
    axes = _axes(prober, base, found, together)
    limit = max(VARIED // thrift, run.cost.work * 3 // 2)
    for kind, wishes in _wishes(axes, step)[: max(0, count - 1)]:
        _add(chosen, prober, kind, base, axes, wishes, limit)
    if thorough:
        _add(chosen, prober, "few", base, axes, [tuple(n * step for n in FEW)] * len(axes), limit)
        ones = [s.name for s in sizes(prober.source) if s.value == 1 and LITERAL in s.name][:ONES]
        if found_batch := batched(prober, base, ones):
            chosen.append(Variant("batch", *found_batch))
    count = len(chosen)
    _add(chosen, prober, "double", base, axes, [(2 * _value(a[0], base, found),) for a in axes], 16 * limit)
    if len(chosen) > count and (thorough or chosen[-1].run.cost.work <= VARIED // thrift):
        chosen[-1] = replace(chosen[-1], kind="large")
    return chosen


def grown(prober: Prober, last: Variant) -> Values | None:
    """The axes of the variant that doubles them at powers of two, as many times their size as costs little; or None."""
    if last.kind not in ("double", "large"):
        return None
    for factor in (16, 8, 4):
        values = {name: factor << (size // 2 - 1).bit_length() for name, size in last.values.items()}
        run = prober.forward(values, real=False)
        if run is not None and max(run.elements, run.cost.largest, run.cost.work // 4) <= GROWN:
            return values
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
    odd = [long if i == last else tuple(ODD[i % 3 :]) for i in range(len(axes))]
    one = [(1, 2, 3, 5) if i == 0 else tuple(ODD[(i + 1) % 4 :]) for i in range(len(axes))]
    mixed: list[tuple[int, ...]] = [MIXED] * len(axes)
    steps = [step if last == 0 or i else 1 for i in range(len(axes))]
    kinds = (("odd", odd), ("one", one), ("mixed", mixed))
    return [(kind, [tuple(v * s for v in w) for w, s in zip(wishes, steps, strict=True)]) for kind, wishes in kinds]


def _add(
    chosen: list[Variant],
    prober: Prober,
    kind: str,
    base: Values,
    axes: list[Axis],
    wishes: list[tuple[int, ...]],
    limit: int,
) -> None:
    """Assign the axes one after another, each to its first wish with which the reference still runs and is small."""
    values = dict(base)
    for axis, wish in zip(axes, wishes, strict=True):
        for value in wish:
            tried = values | dict.fromkeys(axis, value)
            run = prober.forward(tried)
            if run is not None and chosen[0].run.degenerates(run):  # halves ought to be halves there, too
                tried = values | dict.fromkeys(axis, 2 * value)
                run = prober.forward(tried)
            if run is not None and run.cost.work <= limit and not chosen[0].run.degenerates(run):
                values = tried
                break
    run = prober.forward(values)
    if run is not None and all(v.run.shapes != run.shapes or v.run.arguments != run.arguments for v in chosen):
        chosen.append(Variant(kind, values, run))


def _fewer_rows(prober: Prober, base: Values, found: tuple[Size, ...]) -> Values:
    """A scaled-down base with at most ROWS in the batch: kernels often run a program a row, and programs are dear."""
    run = prober.forward(base)
    for size in found if base else ():
        tried = base | {size.name: down(_value(size.name, base, found), max(2, ROWS // prober.thrift))}
        other = prober.forward(tried)
        if run is None or other is None or other.arguments != run.arguments or other.shapes == run.shapes:
            continue
        leading = [(a, b) for a, b in zip(run.shapes, other.shapes, strict=True) if a != b]
        return tried if all(a[1:] == b[1:] and a[0] > b[0] for a, b in leading) else base
    return base


def _small(prober: Prober, run: Run | None) -> bool:
    most = WORK // prober.thrift, LARGEST // prober.thrift
    return run is not None and run.cost.work <= most[0] and run.cost.largest <= most[1]


def _base(prober: Prober, found: tuple[Size, ...]) -> Values:
    """The task's own sizes if they are small, else scaled down, powers of two kept.

    Raises:
        TooLargeError: nothing that runs was found.
    """
    if _small(prober, prober.forward({})):
        return {}
    inputs = {s.name for s in found if _moves(prober, {}, s)}
    twins = {s.name for s in found if s.value >= TIED and s.value in {t.value for t in found if t.name in inputs}}
    tolerable: list[tuple[int, Values]] = [] if not (own := prober.forward({})) else [(own.cost.work, {})]
    everything = {s.name for s in found if s.name in inputs or s.value > KEPT}
    for names in (inputs | twins, inputs, everything):
        if names is everything and tolerable and min(w for w, _ in tolerable) <= STRUCTURE * WORK:
            break  # rather some more work than another number of groups
        for cap in CAPS:
            values = {s.name: down(s.value, cap) for s in found if s.name in names and s.value > cap}
            run = prober.forward(values)
            if _small(prober, run):
                return values
            if run is not None:
                tolerable.append((run.cost.work, values))
    if not tolerable or min(w for w, _ in tolerable) > STRUCTURE * WORK:
        one_by_one = _shrink(prober, found, inputs)
        if (run := prober.forward(one_by_one)) is not None:
            tolerable.append((run.cost.work, one_by_one))
    if not tolerable or min(w for w, _ in tolerable) > MOST * WORK:
        raise TooLargeError(reasons.TOO_LARGE)
    return min(tolerable, key=lambda t: t[0])[1]


def _shrink(prober: Prober, found: tuple[Size, ...], inputs: set[str]) -> Values:
    """Scale the sizes down one after another, each as far as the reference still runs (on fake tensors)."""
    values: Values = {}
    for size in sorted(found, key=lambda s: -s.value):
        if size.name not in inputs and size.value <= KEPT:
            continue
        for cap in reversed(CAPS):
            tried = values | {size.name: down(size.value, cap)}
            if size.value > cap >= 4 and prober.forward(tried, real=False) is not None:
                values = tried
                break
    return values


def down(value: int, cap: int) -> int:
    """``value`` halved until it is at most ``cap``; what is odd by then is simply cut to the cap."""
    while value > cap and value % 2 == 0:
        value //= 2
    return min(value, cap)


def _moves(prober: Prober, base: Values, size: Size) -> bool:
    """Whether the size decides the shape of an input."""
    own, other = prober.shapes(base), None
    for step in STEPS:
        other = prober.shapes(base | {size.name: _stepped(base.get(size.name, size.value), step)})
        if other is not None:
            break
    return own is None or other is None or own.shapes != other.shapes


def _axes(prober: Prober, base: Values, found: tuple[Size, ...], together: bool) -> list[Axis]:
    """Groups of sizes that vary together, in the order of the text."""
    axes: list[Axis] = []
    run = prober.forward(base)
    parameters = {s.name for s in found if not _moves(prober, base, s)}
    budget = PROBES
    shaped_alike = alike(prober, base, found)
    for size in found:
        if any(size.name in axis for axis in axes) or size.name in parameters:
            continue
        for axis in _ties(size, found, base, parameters, shaped_alike.get(size.name, ()), together):
            budget -= 1
            if budget < 0:
                return axes
            if any(_works(prober, run, base, axis, _stepped(_value(size.name, base, found), step)) for step in STEPS):
                axes.append(axis)
                break
    return axes


def _works(prober: Prober, run: Run | None, base: Values, axis: Axis, value: int) -> bool:
    other = prober.forward(base | dict.fromkeys(axis, value))
    return other is not None and run is not None and other.shapes != run.shapes


def alike(prober: Prober, base: Values, found: tuple[Size, ...]) -> dict[str, Axis]:
    """For each literal that is one dimension of one input: the same dimension's of the other inputs of its shape.

    Only of ``ALIKE`` inputs and more that are blocks of matrices: queries, keys and values of self-attention, which
    need not have one length, and whose kernels rely on it.  Two inputs of one shape may have it by chance; not so keys
    and values beside queries of more heads, or of another length.
    """
    run = prober.shapes(base)
    if run is None:
        return {}
    places: dict[tuple[tuple[int, ...], int], list[str]] = {}
    for size in found:
        moved = prober.shapes(base | {size.name: _value(size.name, base, found) + 1}) if LITERAL in size.name else None
        if moved is None or len(moved.shapes) != len(run.shapes):
            continue
        pairs = zip(run.shapes, moved.shapes, strict=True)
        where = [(one, dim) for one, other in pairs if len(one) == len(other) > 2
                 for dim in range(len(one)) if one[dim] != other[dim]]  # fmt: skip
        if len(where) == 1:
            places.setdefault(where[0], []).append(size.name)
    groups = (tuple(names) for (shape, _), names in places.items()
              if len(names) >= ALIKE - _beside_queries(shape, run.shapes))  # fmt: skip
    return {name: names for names in groups for name in names}


def _beside_queries(shape: tuple[int, ...], shapes: Iterable[tuple[int, ...]]) -> bool:
    """Whether inputs of this shape may be keys and values, as one of another shape may be queries: batch, heads, ..."""
    return len(shape) == HEADED and any(
        len(other) == HEADED and other != shape and (other[0], other[-1]) == (shape[0], shape[-1]) for other in shapes
    )


def _ties(
    size: Size, found: tuple[Size, ...], base: Values, parameters: set[str], alike: Axis, together: bool
) -> Iterator[Axis]:  # fmt: skip
    """The size alone, with one or two others of equal value, with all of them; before these with those ``alike`` it.

    ``together``: first with all those of equal value that stand where it stands, in shapes of inputs.

    Large equal values first vary together where that can be told from chance: ``in_channels = out_channels = 128`` may
    be what makes a convolution depthwise.
    """
    value = _value(size.name, base, found)
    equal = [s.name for s in found if s.name != size.name and s.value == size.value
             and _value(s.name, base, found) == value]  # fmt: skip
    if together and LITERAL in size.name:
        yield (size.name, *(n for n in equal if LITERAL in n and n not in parameters))
    if alike:
        others = [n for n in equal if n not in alike]
        yield alike
        yield from ((*alike, *more) for count in (1, 2) for more in _some(combinations(others, count), 28))
    if size.value >= TIED and (silent := [n for n in equal if n in parameters]):
        yield (size.name, *silent)
    yield (size.name,)
    for other in equal:
        yield (size.name, other)
    yield from ((size.name, *pair) for pair in _some(combinations(equal, 2), 28))
    if len(equal) > 2:
        yield (size.name, *equal)


def _some(items: Iterable[Axis], most: int) -> Iterator[Axis]:
    for count, item in enumerate(items):
        if count >= most:
            return
        yield item


def _value(name: str, base: Values, found: tuple[Size, ...]) -> int:
    return base.get(name) or next(s.value for s in found if s.name == name)


def _stepped(value: int, step: tuple[int, int]) -> int:
    return value * step[0] + step[1]
