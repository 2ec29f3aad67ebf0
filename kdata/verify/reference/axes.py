"""Which sizes of a task may vary, and which vary together. In the reference's child."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from kdata.task import Size
from kdata.verify.reference.probe import Prober, Run

TIED = 6  # equal integers from this one on are taken to be equal on purpose
ALIKE = 3  # inputs of one shape from which on they are taken to have it on purpose
PACKED = 3  # dimensions of queries of packed sequences: tokens, heads, width
HEADED = 4  # dimensions of queries: batch, heads, length, width
LITERAL, ARGUMENT = "get_inputs[", "get_init_inputs["  # in the names of sizes that have none of their own
PROBES = 120  # runs spent on finding the axes
STEPS = ((1, 1), (2, 0), (3, 0), (1, 2), (1, 4))  # value * first + second

Values = dict[str, int]
Axis = tuple[str, ...]


def moves(prober: Prober, base: Values, size: Size) -> bool:
    """Whether the size decides the shape of an input."""
    own, other = prober.shapes(base), None
    for step in STEPS:
        other = prober.shapes(base | {size.name: _stepped(base.get(size.name, size.value), step)})
        if other is not None:
            break
    return own is None or other is None or own.shapes != other.shapes


def find(prober: Prober, base: Values, found: tuple[Size, ...], together: bool) -> list[Axis]:
    """Groups of sizes that vary together, in the order of the text."""
    axes: list[Axis] = []
    run = prober.forward(base)
    parameters = {s.name for s in found if not moves(prober, base, s)}
    budget = PROBES
    shaped_alike = alike(prober, base, found)
    for size in found:
        if any(size.name in axis for axis in axes) or size.name in parameters:
            continue
        for axis in _ties(size, found, base, parameters, shaped_alike.get(size.name, ()), together):
            budget -= 1
            if budget < 0:
                return axes
            if any(_works(prober, run, base, axis, _stepped(value_of(size.name, base, found), step)) for step in STEPS):
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
        moved = (
            prober.shapes(base | {size.name: value_of(size.name, base, found) + 1}) if LITERAL in size.name else None
        )
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
    """Whether inputs of this shape may be keys and values, as one of another shape may be queries: batch, heads, ...

    Or tokens, heads, ... where sequences are packed.
    """
    alike = (other for other in shapes if len(other) == len(shape) in (PACKED, HEADED) and other != shape)
    return any((other[0], other[-1]) == (shape[0], shape[-1]) for other in alike)


def _ties(
    size: Size, found: tuple[Size, ...], base: Values, parameters: set[str], alike: Axis, together: bool
) -> Iterator[Axis]:  # fmt: skip
    """The size alone, with one or two others of equal value, with all of them; before these with those ``alike`` it.

    ``together``: first with all those of equal value that stand where it stands, in shapes of inputs.

    Large equal values first vary together where that can be told from chance: ``in_channels = out_channels = 128`` may
    be what makes a convolution depthwise.
    """
    value = value_of(size.name, base, found)
    equal = [s.name for s in found if s.name != size.name and s.value == size.value
             and value_of(s.name, base, found) == value]  # fmt: skip
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


def widths(prober: Prober, base: Values, axes: list[Axis], found: tuple[Size, ...]) -> frozenset[Axis]:
    """The axes along which the last dimension of an input of several dimensions lies."""
    run = prober.shapes(base)
    chosen = set[Axis]()
    if run is None:
        return frozenset()
    for axis in axes:
        tried = (base | dict.fromkeys(axis, _stepped(value_of(axis[0], base, found), step)) for step in STEPS)
        moved = next((shapes for values in tried if (shapes := prober.shapes(values)) is not None), run)
        pairs = zip(run.shapes, moved.shapes, strict=False)
        chosen |= {axis} if any(len(one) > 1 and one[-1:] != other[-1:] for one, other in pairs) else set()
    return frozenset(chosen)


def _some(items: Iterable[Axis], most: int) -> Iterator[Axis]:
    for count, item in enumerate(items):
        if count >= most:
            return
        yield item


def value_of(name: str, base: Values, found: tuple[Size, ...]) -> int:
    """A size's value: that of the base where it is changed there."""
    return base.get(name) or next(s.value for s in found if s.name == name)


def _stepped(value: int, step: tuple[int, int]) -> int:
    return value * step[0] + step[1]
