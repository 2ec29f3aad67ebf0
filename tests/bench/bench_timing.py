"""How far reruns of a timing agree: each candidate timed five times, in processes of its own each time.

python tests/bench/bench_timing.py [FILE ...]

``FILE``: a candidate with its task in one file, as those of tests/kernels are; without any, the honest ones there that a
GPU takes longer for. Needs a GPU; without one this says so. Prints a line a candidate, and how many of those agree.
Several are judged at once, as `kdata verify` does: their checks share the GPU, their timings wait for each other.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kdata.verify.gpu.cards import cards
from kdata.verify.judge import judge_files
from kdata.verify.options import Options

KERNELS = sorted((Path(__file__).parents[1] / "kernels" / "gpu").glob("good_*.py"))
RUNS = 5
AT_ONCE = max(1, (os.cpu_count() or 1) // 2)  # candidates; each keeps two processes busy most of the time
AGREE = 0.03  # spread of the speedups up to which they are the same


def main(arguments: Sequence[str]) -> None:
    """Print a line a candidate."""
    if not cards():
        print("not measured: speedups need a GPU")
        return
    files = [Path(argument) for argument in arguments] or KERNELS
    with ThreadPoolExecutor(AT_ONCE) as threads:
        spreads = list(threads.map(measure, files))
    agreeing = sum(spread is not None and spread <= AGREE for spread in spreads)
    print(f"{agreeing} of {len(files)} candidates agree within {AGREE:.0%} in {RUNS} runs (target 95 %)")


def measure(file: Path) -> float | None:
    """By how much the largest speedup is above the least, printed with all of them; None where a run gave none."""
    timings = [judge_files(file, file, Options(device="cuda", targets=(), seed=run)).timing for run in range(RUNS)]
    speedups = [timing.speedup if timing else 0.0 for timing in timings]
    apart = max(speedups) / min(speedups) - 1 if all(speedups) else None
    said = f"{apart:.1%} apart" if apart is not None else "0: none was given"
    print(f"{file.stem}: {', '.join(f'{speedup:.3f}' for speedup in speedups)} ({said})", flush=True)
    return apart


if __name__ == "__main__":
    main(sys.argv[1:])
