"""Which sizes of a task may vary, and which vary together. In the reference's child."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, permutations

from kdata.task import TIED, Size
from kdata.verify.reference.extents import apart
from kdata.verify.reference.probe import Prober, Run

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


def find(
    prober: Prober, base: Values, found: tuple[Size, ...], together: bool, shaped_alike: Mapping[str, Axis]
) -> list[Axis]:  # fmt: skip
    """Groups of sizes that vary together, in the order of the text; ``shaped_alike``: such as are to, see ``slack``."""
    axes: list[Axis] = []
    run = prober.forward(base)
    parameters = {s.name for s in found if not moves(prober, base, s)}
    fixed = parameters | _reaches_back(run, found, parameters)
    budget = PROBES
    for size in found:
        if any(size.name in axis for axis in axes) or size.name in fixed:
            continue
        for group in _ties(size, found, base, parameters, together):
            budget -= 1
            if budget < 0:
                return axes
            axis = tuple(dict.fromkeys(name for tied in group for name in shaped_alike.get(tied, (tied,))))
            if any(_works(prober, run, base, axis, _stepped(value_of(size.name, base, found), step)) for step in STEPS):
                axes.append(axis)
                break
    return axes


def _reaches_back(run: Run | None, found: tuple[Size, ...], parameters: set[str]) -> set[str]:
    """Last dimensions that are one less than what decides parameters, of an input that is laid before another.

    What a causal filter of four taps saw last are three elements: with more it runs, and answers for too many.
    """
    shapes = [shape for shape in run.shapes if len(shape) > 1] if run and "cat" in run.cost.names else []
    laid = {a[-1] for a, b in permutations(shapes, 2) if a[:-1] == b[:-1] and a[-1] < b[-1]}
    taps = {s.value for s in found if s.name in parameters}
    return {s.name for s in found if LITERAL in s.name and s.value in laid and s.value + 1 in taps}


def _works(prober: Prober, run: Run | None, base: Values, axis: Axis, value: int) -> bool:
    other = prober.forward(base | dict.fromkeys(axis, value))
    return other is not None and run is not None and other.shapes != run.shapes


def alike(prober: Prober, base: Values, found: tuple[Size, ...]) -> dict[str, Axis]:
    """For each literal that is one dimension of one input: the same dimension's of the other inputs of its shape.

    Only of ``ALIKE`` inputs and more that are blocks of matrices: queries, keys and values of self-attention, which
    need not have one length, and whose kernels rely on it.  Two inputs of one shape may have it by chance; not so keys
    and values beside queries of more heads, or of another length, or in pages.  The first of three, the queries, is
    none of them along dimensions that the text sets ``apart``, or a candidate's does: ``Prober.unlike``.
    """
    run = prober.shapes(base)
    if run is None:
        return {}
    unlike = apart(prober.source) | prober.unlike
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
    groups = (tuple(names[len(names) >= ALIKE and not unlike.isdisjoint({dim, dim - len(shape)}) :])
              for (shape, dim), names in places.items()
              if len(names) >= ALIKE - _beside_queries(shape, run.shapes))  # fmt: skip
    return {name: names for names in groups for name in names}


def batches(prober: Prober, base: Values, found: tuple[Size, ...]) -> dict[str, Axis]:
    """For each literal that is the first dimension of one input of heads: those of the others of as many, and as wide.

    What turns queries and keys works on two batches; nobody means it to.
    """
    run = prober.shapes(base)
    places: dict[tuple[int, int], list[str]] = {}
    for size in found if run is not None else ():
        tried = base | {size.name: value_of(size.name, base, found) + 1}
        moved = prober.shapes(tried) if LITERAL in size.name else None
        pairs = zip(run.shapes, moved.shapes, strict=False) if moved else ()  # type: ignore[union-attr]
        where = [(one, other) for one, other in pairs if one != other]
        if len(where) == 1 and len(one := where[0][0]) == HEADED and one[1:] == where[0][1][1:]:
            places.setdefault((one[0], one[-1]), []).append(size.name)
    return {name: tuple(names) for names in places.values() for name in names}


def _beside_queries(shape: tuple[int, ...], shapes: Iterable[tuple[int, ...]]) -> bool:
    """Whether inputs of this shape may be keys and values, as one of another shape may be queries: batch, heads, ...

    Or tokens, heads, ... where sequences are packed, or each query is one token, and the others are in pages.
    """
    if len(shape) not in (PACKED, HEADED):
        return False
    alike = [other for other in shapes if len(other) == len(shape) and other != shape]
    paged = [other for other in shapes if len(other) == PACKED < len(shape)]
    return any((other[0], other[-1]) == (shape[0], shape[-1]) for other in alike) or any(
        other[-1] == shape[-1] for other in paged
    )


def _ties(
    size: Size, found: tuple[Size, ...], base: Values, parameters: set[str], together: bool
) -> Iterator[Axis]:  # fmt: skip
    """The size alone, with one or two others of equal value, with all of them.

    ``together``: first with all those of equal value that stand where it stands, in shapes of inputs.

    Large equal values first vary together where that can be told from chance: ``in_channels = out_channels = 128`` may
    be what makes a convolution depthwise.
    """
    value = value_of(size.name, base, found)
    equal = [s.name for s in found if s.name != size.name and s.value == size.value
             and value_of(s.name, base, found) == value]  # fmt: skip
    if together and LITERAL in size.name:
        yield (size.name, *(n for n in equal if LITERAL in n and n not in parameters))
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
