"""Which clock a claim rests on, and whether the samples say it firmly enough. Trusted, and needs no GPU.

The device's clock is the headline, as SOL-ExecBench, flashinfer-bench and Triton's own ``do_bench`` have it: a busy
CPU does not move it, and starting a kernel costs what its caller makes of it (a CUDA graph makes it nothing).  A
candidate that has work done where that clock does not look, on the host or on a stream of its own, takes longer than
the device says in every block, by its fastest sample, and by more than starting as many kernels takes just then: the
claim is then the smaller of the two speedups.  A number on which the blocks of a run do not agree is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from kdata.record import Series
from kdata.verify.timing import statistics
from kdata.verify.timing.statistics import Ratio

CANDIDATE, EAGER, LAUNCH = "candidate", "eager", "launch"  # the last: of one small kernel, by the reference's process
HOST = 60.0  # microseconds that a forward's own Python may take beyond what the device does


@dataclass(slots=True)
class Samples:
    """Of one program, block by block."""

    gpu: list[list[float]] = field(default_factory=list)
    wall: list[list[float]] = field(default_factory=list)
    outer: list[list[float]] = field(default_factory=list)

    def series(self, name: str) -> Series:
        """As a record."""
        return Series(name, *(tuple(round(v, 3) for block in kind for v in block)
                              for kind in (self.gpu, self.wall, self.outer)))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Claim:
    """What the samples say."""

    ratio: Ratio  # the speedup; zeros where none is claimed
    wall: Ratio
    eager: float  # the speedup over eager by the device's clock
    baseline: str  # the fastest
    label: str

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
    fastest = min(others, key=lambda n: middle(others[n].gpu))
    device = statistics.ratio(others[fastest].gpu, mine.gpu)
    wall = statistics.ratio(others[fastest].wall, mine.wall)
    eager = statistics.ratio(others[EAGER].gpu, mine.gpu).value
    elsewhere = wall.value < device.value and works_elsewhere(mine, launch, launches)
    ratio = wall if elsewhere else device
    if not (steady(device) and steady(ratio)):
        return Claim(Ratio(0.0, 0.0, 0.0), wall, eager, fastest, "unstable")
    short = middle(others[fastest].gpu) < statistics.LAUNCH_BOUND
    return Claim(ratio, wall, eager, fastest, _label(ratio, eager, fastest, crowd, short, elsewhere))


def works_elsewhere(mine: Samples, launch: Sequence[Sequence[float]], launches: float) -> bool:
    """Whether calls take longer than the device's clock and launching explain, in every block by its fastest sample.

    Whatever else the CPU does only ever adds to a clock, so noise has no way to make the fastest samples of all blocks
    late; work has no way not to.
    """
    typical = middle(mine.gpu)
    return all(
        min(walls) > statistics.AGREE * (typical + launches * median(starts)) + HOST
        for walls, starts in zip(mine.wall, launch, strict=True)
    )


def steady(ratio: Ratio) -> bool:
    """Whether the interval of a ratio is narrow."""
    return (ratio.high - ratio.low) / 2 <= statistics.STABLE * ratio.value


def middle(blocks: Sequence[Sequence[float]]) -> float:
    """The median over all blocks."""
    return median(v for block in blocks for v in block)


def _label(ratio: Ratio, eager: float, fastest: str, crowd: bool, short: bool, elsewhere: bool) -> str:
    over_eager, over_compiled = statistics.EXTRAORDINARY
    extraordinary = eager > over_eager or (fastest != EAGER and ratio.value > over_compiled)
    facts = {"contended": crowd, "host-bound": elsewhere, "launch-bound": short, "extraordinary": extraordinary}
    return next((name for name, holds in facts.items() if holds), "")
