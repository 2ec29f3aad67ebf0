"""Which clock a claim rests on, and whether the samples say it firmly enough. Trusted, and needs no GPU.

What the device does for a call, as its profiler has it, is the headline, as SOL-ExecBench and flashinfer-bench have
it: a busy CPU does not move it, nor what two events cost, and starting a kernel costs what its caller makes of it (a
CUDA graph makes it nothing).  A candidate that waits between its kernels, or has work done where the profiler does not
look, on the host or on a stream of its own, takes longer between events, or from rest to rest, than the profiler says,
in every block, by its fastest sample, and by more than starting as many kernels takes just then: the claim is then the
smallest of the speedups.  A number on which the blocks of a run do not agree is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from kdata.record import Series
from kdata.verify.timing import statistics
from kdata.verify.timing.statistics import Ratio

CANDIDATE, EAGER, LAUNCH = "candidate", "eager", "launch"  # the last: of one small kernel, by the reference's process
PROFILED, SHIELDED, BARE = "profiled", "shielded", "bare"  # kinds of samples
WAITS = 5.0  # microseconds that two events may take beyond what the device does between them
HOST = 60.0  # microseconds that a forward's own Python may take beyond what the device does


@dataclass(slots=True)
class Samples:
    """Of one program, block by block."""

    gpu: list[list[float]] = field(default_factory=list)
    wall: list[list[float]] = field(default_factory=list)
    outer: list[list[float]] = field(default_factory=list)
    device: list[list[float]] = field(default_factory=list)

    def begin(self) -> None:
        """A new block."""
        for kind in self._kinds():
            kind.append([])

    def _kinds(self) -> tuple[list[list[float]], ...]:
        return self.gpu, self.wall, self.outer, self.device

    def series(self, name: str) -> Series:
        """As a record."""
        return Series(name, *(tuple(round(v, 3) for block in kind for v in block)
                              for kind in self._kinds()))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Claim:
    """What the samples say."""

    ratio: Ratio  # the speedup; zeros where none is claimed
    wall: Ratio
    eager: float  # the speedup over eager by what the device does
    baseline: str  # the fastest
    label: str
    precise: bool  # whether more samples would tell little more

    @property
    def firm(self) -> bool:
        """Whether the blocks of its run agree on it."""
        return self.label != "unstable"


def claim(samples: Mapping[str, Samples], launch: Sequence[Sequence[float]], launches: float, crowd: bool) -> Claim:
    """The speedup over the fastest baseline.

    ``launch``: wall clock of a forward that starts one small kernel, block by block; ``launches``: of the candidate's;
    ``crowd``: whether strangers use the device.
    """
    mine, others = samples[CANDIDATE], {n: s for n, s in samples.items() if n != CANDIDATE}
    fastest = min(others, key=lambda n: middle(others[n].device))
    device = statistics.ratio(others[fastest].device, mine.device)
    wall = statistics.ratio(others[fastest].wall, mine.wall)
    eager = statistics.ratio(others[EAGER].device, mine.device).value
    ratios = [device]
    if waits(mine):
        ratios.append(statistics.ratio(others[fastest].gpu, mine.gpu))
    if works_elsewhere(mine, launch, launches):
        ratios.append(wall)
    ratio = min(ratios, key=lambda r: r.value)
    elsewhere = ratio is not device
    stable, precise = (narrow(device, s) and narrow(ratio, s) for s in (statistics.STABLE, statistics.PRECISE))
    if not stable:
        return Claim(Ratio(0.0, 0.0, 0.0), wall, eager, fastest, "unstable", precise)
    ratio = ratio.between_processes(middle(others[fastest].device), middle(mine.device))
    short = middle(others[fastest].device) < statistics.LAUNCH_BOUND
    return Claim(ratio, wall, eager, fastest, _label(ratio, eager, fastest, crowd, short, elsewhere), precise)


def waits(mine: Samples) -> bool:
    """Whether two events are further apart than what the device does between them explains."""
    typical = middle(mine.device)
    return all(min(events) > statistics.AGREE * typical + WAITS for events in mine.gpu)


def works_elsewhere(mine: Samples, launch: Sequence[Sequence[float]], launches: float) -> bool:
    """Whether calls take longer than the device's work and launching explain, in every block by its fastest sample.

    Whatever else the CPU does only ever adds to a clock, so noise has no way to make the fastest samples of all blocks
    late; work has no way not to.
    """
    typical = middle(mine.device)
    return all(
        min(walls) > statistics.AGREE * (typical + launches * median(starts)) + HOST
        for walls, starts in zip(mine.wall, launch, strict=True)
    )


def narrow(ratio: Ratio, share: float) -> bool:
    """Whether the interval of a ratio is at most such a share of it to either side."""
    return (ratio.high - ratio.low) / 2 <= share * ratio.value


def middle(blocks: Sequence[Sequence[float]]) -> float:
    """The centre of all blocks."""
    return statistics.centre([v for block in blocks for v in block])


def _label(ratio: Ratio, eager: float, fastest: str, crowd: bool, short: bool, elsewhere: bool) -> str:
    over_eager, over_compiled = statistics.EXTRAORDINARY
    extraordinary = eager > over_eager or (fastest != EAGER and ratio.value > over_compiled)
    facts = {"contended": crowd, "host-bound": elsewhere, "launch-bound": short, "extraordinary": extraordinary}
    return next((name for name, holds in facts.items() if holds), "")
