"""Verdicts a minute of the judge, beside KernelBench's own evaluator on the same candidates in the same run.

python tests/bench/bench_verify.py [FOLDER]

``FOLDER``, or the variable KERNELBENCH: a checkout of github.com/ScalingIntelligence/KernelBench. Its evaluator needs a
GPU; without one this says so, and measures screen and trust verdicts on the CPU. What isolation costs is measured on
both: a job in the sandbox that does nothing, from a warm worker.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Literal

from kdata.sandbox.guard import Limits
from kdata.sandbox.pool import lease
from kdata.verify import judge
from kdata.verify.compiling import targets
from kdata.verify.gpu.cards import cards
from kdata.verify.options import INTERPRETED, Options

GOOD = sorted((Path(__file__).parents[1] / "kernels").glob("good_*.py"))
KERNELS = GOOD[:: len(GOOD) // 96][:96]
PEER = Path(__file__).with_name("kernelbench_peer.py")
TARGETS = ("sm_90", "gfx942")
SAMPLE = KERNELS[::4]  # judged at trust level and by KernelBench's evaluator, too: they are slow
TIMED = 8  # of the sample
JOBS = 40
THREADS = 12  # on a GPU, whose driver makes more of them wait for each other
PATIENCE = 180  # seconds that KernelBench gives a candidate: `timeout` in its scripts/eval_from_generations.py


def main(arguments: Sequence[str]) -> None:
    """Print a line a measurement."""
    folder = next(iter(arguments), os.environ.get("KERNELBENCH", ""))
    device: Literal["cpu", "cuda"] = "cuda" if cards() else "cpu"
    threads = min(THREADS, os.cpu_count() or 1) if device == "cuda" else 1
    start(threads, device)
    typical, least = isolation()
    print(f"isolation: {1e3 * typical:.1f} ms a candidate, {1e3 * least:.1f} at the least (target 50)")
    print(f"on {cards()[0].name if cards() else 'the CPU, in the interpreter, one candidate at a time'}")
    plain = Options(targets=(), device=device, timed=False)
    screen = rate("screen", KERNELS, plain, threads)
    trust = rate("trust", SAMPLE, Options(targets=(), device=device, timed=False, level="trust"), threads)
    if device == "cpu":
        rate(f"screen, compiled for {', '.join(TARGETS)}", KERNELS, Options(targets=TARGETS, seed=1), 1)
        print("KernelBench's evaluator: not measured, it needs a GPU")
    elif not Path(folder, "src", "kernelbench", "eval.py").exists():
        print("KernelBench's evaluator: not measured, name its checkout")
    elif not (peer := upstream(Path(folder))):
        print("KernelBench's evaluator: not measured, it judged none")
    else:
        print(f"ratios: screen {screen / peer:.1f} (target 10), trust {trust / peer:.1f} (target 2)", flush=True)
        rate("trust, timed", SAMPLE[:TIMED], Options(targets=(), device=device, level="trust"), threads)


def start(threads: int, device: Literal["cpu", "cuda"]) -> None:
    """Start the workers, as they are from the first minute of a run on."""
    options = Options(targets=TARGETS if device == "cpu" else (), device=device, timed=False, seed=2)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda file: judge.judge_files(file, file, options), KERNELS[: 2 * threads]))


def rate(what: str, files: Sequence[Path], options: Options, threads: int) -> float:
    """Verdicts a minute, with references run anew and kernels compiled anew."""
    judge.expect.cache_clear()
    targets.forget()
    started = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        receipts = list(pool.map(lambda file: judge.judge_files(file, file, options), files))
    minutes = (time.perf_counter() - started) / 60
    others = [(file.name, r.reason) for file, r in zip(files, receipts, strict=True) if r.verdict != "verified"]
    print(f"{what}: {len(files) / minutes:.1f} verdicts a minute, not verified: {others or 'none'}", flush=True)
    return len(files) / minutes


def isolation() -> tuple[float, float]:
    """Seconds that a job takes which does nothing, in the sandbox of candidates: the median and the least."""
    taken = []
    with lease("torch", "kdata.verify.candidate.host:warm", **INTERPRETED) as worker:
        for _ in range(JOBS):
            started = time.perf_counter()
            worker.call("kdata.verify.compiling.compile:answer", [], Limits())
            taken.append(time.perf_counter() - started)
    return median(taken), min(taken)


def upstream(folder: Path) -> float:
    """Verdicts a minute of KernelBench's evaluator: 5 draws, 100 timed calls, as its script runs it.

    Each candidate in a process of its own, and given up after as long, as its batch evaluation has it; one that it
    could not judge counts as neither a verdict nor a second.  Zero: it judged none.
    """
    told = [seconds for file in SAMPLE if (seconds := judged_upstream(folder, file)) is not None]
    ended = [seconds for seconds in told if seconds < PATIENCE]
    if not ended:
        return 0.0
    each = 60 * len(told) / sum(told)
    print(f"KernelBench's evaluator: {each:.1f} verdicts a minute, {len(told) - len(ended)} of {len(told)} given up "
          f"after {PATIENCE} s; {60 * len(ended) / sum(ended):.1f} a minute of the others", flush=True)  # fmt: skip
    return each


def judged_upstream(folder: Path, file: Path) -> float | None:
    """Seconds until KernelBench's evaluator told of one file, PATIENCE where it never did; None where it failed."""
    started = time.perf_counter()
    try:
        ran = subprocess.run([sys.executable, str(PEER), str(folder), str(file)], check=False, capture_output=True,
                             text=True, timeout=PATIENCE)  # fmt: skip
    except subprocess.TimeoutExpired:
        print(f"KernelBench's evaluator: {file.name} given up", flush=True)
        return PATIENCE
    if ran.returncode:
        said = ran.stderr.strip().rpartition("\n")[2]
        print(f"KernelBench's evaluator: {file.name} failed: {said}", flush=True)
        return None
    return time.perf_counter() - started


if __name__ == "__main__":
    main(sys.argv[1:])
