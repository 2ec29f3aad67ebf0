"""From raw samples to a claim: centres, bootstrap intervals, floors, labels. Trusted, and needs no GPU."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

DRAWS = 2000  # of the bootstrap
LAUNCH_BOUND = 20.0  # microseconds on the device: below it a user's time is the launch's
GAP = 1.2  # microseconds from one kernel to the next, on an H200: eight calls in a row take 8 * (work + kernels * GAP)
PLACED = 0.01  # microseconds by which a program differs between processes: where its code and its memory lie
AGREE = 1.5  # ratio up to which two clocks agree
STABLE = 0.03  # half width of the speedup's interval, as a share of it: above it no speedup is told
PRECISE = 0.015  # the same: above it more samples are taken, so that five runs of a kernel lie within 3 %
EXTRAORDINARY = 10.0, 3.0  # speedups over eager and over torch.compile that want a person's look
FLOOR = 0.9  # of the least time the device could take
# Operations a clock and multiprocessor of the fastest unit that keeps the precision, Hopper and Blackwell's data center
# parts; fp32 as three products of tf32.
RATES = {"int8": 8192, "uint8": 8192, "float16": 4096, "bfloat16": 4096, "float8_e4m3fn": 8192, "float8_e5m2": 8192,
         "float32": 683, "float64": 256}  # fmt: skip
FASTEST_MEMORY = 16e12  # bytes a second, where the device does not tell its own


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of centres and its 95 % interval."""

    value: float
    low: float
    high: float

    def between_processes(self, above: float, below: float) -> Ratio:
        """The same with an interval for other processes too, where each program's time may be ``PLACED`` off."""
        share = PLACED * math.hypot(1 / above, 1 / below)
        return Ratio(self.value, self.low * max(0.0, 1 - share), self.high * (1 + share))


def ratio(above: Sequence[Sequence[float]], below: Sequence[Sequence[float]], seed: int = 0) -> Ratio:
    """Centre over centre of samples in blocks; blocks are resampled together, for drifts are common to a block."""
    one, other = (np.asarray(values, dtype=np.float64) for values in (above, below))
    random = np.random.default_rng(seed)
    blocks = len(one)
    chosen = random.integers(0, blocks, size=(DRAWS, blocks))
    drawn = [_resampled(values, chosen, random) for values in (one, other)]
    low, high = np.quantile(_centres(drawn[0]) / _centres(drawn[1]), [0.025, 0.975])
    return Ratio(centre(one.ravel().tolist()) / centre(other.ravel().tolist()), float(low), float(high))


def centre(values: Sequence[float]) -> float:
    """The mean of the middle half: as robust as a median, and no tick of 32 ns, which is 2 % of a short kernel."""
    return float(_centres(np.asarray(values, dtype=np.float64)[None])[0])


def _centres(rows: Any) -> Any:
    quarter = rows.shape[1] // 4
    return np.sort(rows, axis=1)[:, quarter : rows.shape[1] - quarter].mean(axis=1)


def _resampled(values: Any, blocks: Any, random: np.random.Generator) -> Any:
    """For each draw its blocks, and from each of these as many samples as it has, with repetition."""
    draws, count = blocks.shape
    size = values.shape[1]
    picks = random.integers(0, size, size=(draws, count, size))
    return values[blocks[:, :, None], picks].reshape(draws, -1)


def device_time(busy: float, launches: float) -> float:
    """What a call costs a device in a row of calls, in microseconds: its work, and going on to the next kernel.

    The gaps of single calls differ by a fifth between processes, by where their commands lie; so all count alike.
    """
    return max(0.1, busy + GAP * launches)


def floor(admitted: Mapping[str, Any], tf32: bool = False) -> float:
    """The least microseconds that the device can take: bytes over bandwidth, or operations over rate.

    Writes that fit the cache need not have reached memory when the last kernel ends.  What a task is given in few bits
    it may widen before it multiplies; a kernel need not.
    """
    device = admitted["device"]
    bandwidth = 2e3 * device["memory_clock"] * device["bus"] / 8 or FASTEST_MEMORY
    moved = admitted["read"] + max(0, admitted["written"] - device["l2"])
    rates = RATES | ({"float32": 3 * RATES["float32"]} if tf32 else {})
    rate = max((rates[dtype] for dtype in admitted["dtypes"] if dtype in rates), default=max(RATES.values()))
    operations = rate * device["sms"] * (1e3 * device["clock"] or 3e9)
    return 1e6 * float(max(moved / bandwidth, admitted["flops"] / operations))


def busy(kernels: Sequence[Sequence[Any]]) -> float:
    """Microseconds a call in which anything ran on the device, over all streams: the median over calls.

    ``kernels``: number of the call, name, stream, start and duration in nanoseconds.
    """
    calls: dict[int, list[tuple[int, int]]] = {}
    for call, _, _, start, duration in kernels:
        calls.setdefault(call, []).append((start, duration))
    return float(np.median([working(spans) for spans in calls.values()])) / 1e3 if calls else 0.0


def launches(kernels: Sequence[Sequence[Any]]) -> float:
    """How many things a call has the device do: the mean over calls."""
    return len(kernels) / max(1, len({k[0] for k in kernels}))


def working(spans: Sequence[tuple[int, int]]) -> int:
    """How long anything ran, over all streams, of what began at and ran for so long."""
    total, end = 0, 0
    for start, duration in sorted(spans):
        total += max(0, start + duration - max(start, end))
        end = max(end, start + duration)
    return total


def share(kernels: Sequence[Sequence[Any]], own: Container[str]) -> float:
    """How much of the device's time was spent in kernels of these names."""
    total = sum(k[4] for k in kernels)
    return sum(k[4] for k in kernels if k[1] in own) / total if total else 0.0
