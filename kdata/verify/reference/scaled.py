"""A task's own sizes, scaled down to what an interpreter can do. In the reference's child only."""

from __future__ import annotations

from collections.abc import Iterator

from kdata.task import TIED, Size
from kdata.verify import reasons
from kdata.verify.reference.axes import Values, moves, value_of
from kdata.verify.reference.probe import Prober, Run

WORK = 120_000  # element operations of one forward that the interpreter does in about a tenth of a second
LARGEST = 20_000  # elements of one tensor
MOST = 800  # times WORK: beyond it a task is too large to be interpreted at all
ROWS = 16  # of a batch
KEPT = 64  # integers up to this one that decide parameters only are never scaled down
STRUCTURE = 3  # times WORK: what keeping the integers that decide parameters only may cost
CAPS = (128, 64, 32, 16, 8, 4, 2)


class TooLargeError(ValueError):
    """The task cannot be brought down to what an interpreter can do."""


def scaled(prober: Prober, found: tuple[Size, ...]) -> Values:
    """Those of the sizes ``found`` that are to be others, none where the task is small as it is.

    Raises:
        TooLargeError: no sizes were found at which the reference runs and is small.
    """
    return _fewer_rows(prober, _small_sizes(prober, found), found)


def _fewer_rows(prober: Prober, base: Values, found: tuple[Size, ...]) -> Values:
    """A scaled-down base with at most ROWS in the batch: kernels often run a program a row, and programs are dear."""
    run = prober.forward(base)
    for size in found if base else ():
        tried = base | {size.name: down(value_of(size.name, base, found), max(2, ROWS // prober.thrift))}
        other = prober.forward(tried)
        if run is None or other is None or other.arguments != run.arguments or other.shapes == run.shapes:
            continue
        leading = [(a, b) for a, b in zip(run.shapes, other.shapes, strict=True) if a != b]
        return tried if all(a[1:] == b[1:] and a[0] > b[0] for a, b in leading) else base
    return base


def _small(prober: Prober, run: Run | None) -> bool:
    most = WORK // prober.thrift, LARGEST // prober.thrift
    return run is not None and run.cost.work <= most[0] and run.cost.largest <= most[1]


def _small_sizes(prober: Prober, found: tuple[Size, ...]) -> Values:
    """The task's own sizes if they are small, else scaled down, powers of two kept, as nothing broadcasts by accident.

    Raises:
        TooLargeError: nothing that runs was found.
    """
    if _small(prober, own := prober.forward({})):
        return {}
    like = own or prober.forward({}, real=False)
    inputs = {s.name for s in found if moves(prober, {}, s)}
    twins = {s.name for s in found if s.value >= TIED and s.value in {t.value for t in found if t.name in inputs}}
    tolerable: list[tuple[int, Values]] = [] if own is None else [(own.cost.work, {})]
    everything = {s.name for s in found if s.name in inputs or s.value > KEPT}
    for names in (inputs | twins, inputs, everything):
        if names is everything and tolerable and min(w for w, _ in tolerable) <= STRUCTURE * WORK:
            break  # rather some more work than another number of groups
        for cap in CAPS:
            values = {s.name: down(s.value, cap) for s in found if s.name in names and s.value > cap}
            run = prober.forward(values)
            if run is None or not _serves(run, like):
                continue
            if _small(prober, run):
                return values
            tolerable.append((run.cost.work, values))
    if not tolerable or min(w for w, _ in tolerable) > STRUCTURE * WORK:
        one_by_one = _defined(prober, found, _shrink(prober, found, inputs, like))
        if (run := prober.forward(one_by_one)) is not None:
            tolerable.append((run.cost.work, one_by_one))
    for values in _divided(found, inputs | twins) if not tolerable else ():
        run = prober.forward(values)
        if run is not None and _serves(run, like):
            tolerable.append((run.cost.work, values))
            if _small(prober, run):
                break
    if not tolerable or min(w for w, _ in tolerable) > MOST * WORK:
        raise TooLargeError(reasons.TOO_LARGE)
    return min(tolerable, key=lambda t: t[0])[1]


def _serves(run: Run, like: Run | None) -> bool:
    """Whether a run answers with numbers, and is no degenerate form of the one at the task's own sizes."""
    return not run.void and not (like is not None and like.degenerates(run))


def _divided(found: tuple[Size, ...], names: set[str]) -> Iterator[Values]:
    """The sizes that one number divides, divided by it: what is twice as wide as something else stays so."""
    for part in (1 << n for n in range(1, max((s.value for s in found), default=1).bit_length())):
        yield {s.name: s.value // part for s in found if s.name in names and s.value % part == 0 and s.value > part}


def _shrink(prober: Prober, found: tuple[Size, ...], inputs: set[str], like: Run | None) -> Values:
    """Scale the sizes down one after another, each as far as the reference still runs (on fake tensors).

    ``like``: a run at the task's own sizes, of which none may be a degenerate form.
    """
    values: Values = {}
    for size in sorted(found, key=lambda s: -s.value):
        if size.name not in inputs and size.value <= KEPT:
            continue
        for cap in reversed(CAPS):
            tried = values | {size.name: down(size.value, cap)}
            run = prober.forward(tried, real=False) if size.value > cap >= 4 else None
            if run is not None and _serves(run, like):
                values = tried
                break
    return values


def _defined(prober: Prober, found: tuple[Size, ...], values: Values) -> Values:
    """The same, one of them larger where the answer would be no number in places: at 0 / (width // 4 - 1), say."""
    if (run := prober.forward(values)) is None or not run.void:
        return values
    owns = {size.name: size.value for size in found}
    for name, value in values.items():
        for cap in (cap for cap in reversed(CAPS) if value < cap < owns[name]):
            larger = values | {name: down(owns[name], cap)}
            if (run := prober.forward(larger)) is not None and not run.void:
                return larger
    return values


def down(value: int, cap: int) -> int:
    """``value`` halved until it is at most ``cap``; what is odd by then is simply cut to the cap."""
    while value > cap and value % 2 == 0:
        value //= 2
    return min(value, cap)
