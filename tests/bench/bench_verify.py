"""Candidates verified per second on one core, warm, on the honest kernels of ``tests/kernels``; compiling apart.

python tests/bench/bench_verify.py
"""

from __future__ import annotations

import time
from pathlib import Path

from kdata.verify import judge, targets
from kdata.verify.options import Options

KERNELS = sorted((Path(__file__).parents[1] / "kernels").glob("good_*.py"))
TARGETS = ("sm_90", "gfx942")


def main() -> None:
    """Print one line a kernel and the rates."""
    judge.judge_files(KERNELS[0], KERNELS[0], Options(targets=TARGETS))  # starts the workers
    running = compiling = 0.0
    for file in KERNELS:
        judge.expect.cache_clear()
        started = time.perf_counter()
        run = judge.judge_files(file, file, Options(targets=()))
        middle = time.perf_counter()
        targets.forget()
        full = judge.judge_files(file, file, Options(targets=TARGETS, seed=1))
        again = time.perf_counter()
        judge.judge_files(file, file, Options(targets=(), seed=1))
        rerun = time.perf_counter() - again
        running += middle - started
        extra = max(0.0, again - middle - (middle - started))
        compiling += extra
        verdicts = f"{file.stem:28} {run.verdict:10} {full.verdict:10}"
        print(f"{verdicts} run {middle - started:6.2f} s (reference kept: {rerun:5.2f} s)  compile {extra:5.2f} s")
    print(f"\nverified per second and core, warm: {len(KERNELS) / running:.2f} (target 1)")
    print(f"with {' and '.join(TARGETS)} compiled: {len(KERNELS) / (running + compiling):.2f}")


if __name__ == "__main__":
    main()
