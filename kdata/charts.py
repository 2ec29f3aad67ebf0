"""Small charts as inline SVG: no script, no library, colours from the page's style."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

WIDTH, HEIGHT, BASE, TOP = 360, 150, 122, 18


@dataclass(frozen=True, slots=True)
class Bin:
    """One bar of a histogram."""

    label: str  # of its lower edge
    title: str
    count: int


def histogram(values: Sequence[float], bins: int = 14) -> list[Bin]:
    """Equal bins of a round width, no less than 1, between the least and the largest value; [] of no values."""
    found = [v for v in values if math.isfinite(v)]
    if not found:
        return []
    step = max(1.0, _round_step((max(found) - min(found)) / bins))
    first = math.floor(min(found) / step)
    last = math.floor(max(found) / step)
    counts = [0] * (last - first + 1)
    for value in found:
        counts[min(math.floor(value / step), last) - first] += 1
    edges = [(first + i) * step for i in range(len(counts))]
    ranges = [f"{e:.6g}" if step == 1 else f"{e:.6g} to {e + step:.6g}" for e in edges]
    return [Bin(f"{e:.6g}", r, n) for e, r, n in zip(edges, ranges, counts, strict=True)]


EXTREMES = (1e-24, 1e12)


def decades(values: Sequence[float], parts: int = 3) -> list[Bin]:
    """Bins of a third of a decade each, for numbers over many orders of magnitude; exact zeros have their own.

    What is beyond ``EXTREMES`` counts at the extreme.
    """
    least, most = EXTREMES
    found = [math.floor(math.log10(min(max(v, least), most)) * parts) for v in values if v > 0]
    zeros = sum(1 for v in values if v == 0)
    bins = [Bin("0", "exactly 0", zeros)] if zeros else []
    for power in range(min(found, default=0), max(found, default=-1) + 1):
        low, high = 10 ** (power / parts), 10 ** ((power + 1) / parts)
        label = f"{low:.0e}".replace("e-0", "e-") if power % parts == 0 else ""
        bins.append(Bin({"1e+00": "1", "1e+01": "10", "1e-1": "0.1"}.get(label, label), f"{low:.2g} to {high:.2g}",
                        found.count(power)))  # fmt: skip
    return bins


def svg(bins: Sequence[Bin], title: str) -> str:
    """A histogram as an SVG element that scales with its container. Labels are the library's own, no user text."""
    if not bins:
        return ""
    most = max(b.count for b in bins)
    pitch = min(WIDTH / len(bins), 60.0)
    left = (WIDTH - pitch * len(bins)) / 2
    parts = [_bar(b, left + i * pitch, pitch, most) for i, b in enumerate(bins)]
    labels = [_label(b, left + i * pitch, pitch) for i, b in _labelled(bins, pitch)]
    axis = f'<line class="axis" x1="0" x2="{WIDTH}" y1="{BASE}" y2="{BASE}"/>'
    head = f'<svg class="histogram" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">'
    return "".join([head, *parts, axis, *labels, "</svg>"])


def _bar(bin_: Bin, x: float, pitch: float, most: int) -> str:
    height = (BASE - TOP) * bin_.count / most
    if bin_.count:
        height = max(height, 1.5)
    box = f'x="{x + 1:.1f}" y="{BASE - height:.1f}" width="{max(pitch - 2, 1):.1f}" height="{height:.1f}" rx="1.5"'
    count = ""
    if bin_.count and pitch >= 12:
        count = f'<text class="count" x="{x + pitch / 2:.1f}" y="{BASE - height - 4:.1f}">{bin_.count}</text>'
    return f"<g><title>{bin_.title}: {bin_.count}</title><rect {box}/>{count}</g>"


def _label(bin_: Bin, x: float, pitch: float) -> str:
    return f'<text class="tick" x="{x + pitch / 2:.1f}" y="{BASE + 17}">{bin_.label}</text>'


def _labelled(bins: Sequence[Bin], pitch: float) -> list[tuple[int, Bin]]:
    """The bins whose labels fit beside each other: every bin with one, every second, every third ..."""
    named = [(i, b) for i, b in enumerate(bins) if b.label]
    room = 10 + 6.2 * max(len(b.label) for _, b in named) if named else 1.0
    gaps = [second[0] - first[0] for first, second in pairwise(named)]
    return named[:: max(1, math.ceil(room / (pitch * min(gaps, default=1))))]


def _round_step(width: float) -> float:
    """The next 1, 2 or 5 times a power of ten; 1 for no width at all."""
    if width <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= width * 0.999)
