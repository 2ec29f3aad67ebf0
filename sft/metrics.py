"""The field's numbers for generated kernels, each with its estimator and its source. Numbers in, numbers out.

A problem has ``n`` samples (answers), of which some pass. Estimators are per problem; a suite's number is their mean
over problems, and its interval is over problems, which are what a suite is a sample of: bootstrapped, or Wilson's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

RESAMPLES = 2000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over problems and its interval."""

    value: float
    low: float
    high: float


def pass_at_k(samples: int, passed: int, k: int) -> float:
    """The chance that of ``k`` samples drawn without replacement at least one passes: ``1 - C(n-c, k) / C(n, k)``.

    Unbiased for the chance of a model that is asked ``k`` times. Source: Chen et al. 2021, "Evaluating Large Language
    Models Trained on Code", https://arxiv.org/abs/2107.03374, equation 1.

    Raises:
        ValueError: there are fewer than ``k`` samples, or more passed than there are.
    """
    if not 0 <= passed <= samples or not 1 <= k <= samples:
        raise ValueError(f"no pass@{k} of {passed} passed in {samples} samples")
    return 1.0 - math.comb(samples - passed, k) / math.comb(samples, k)


def speedup_at_k(speedups: Sequence[float], k: int) -> float:
    """The mean over all choices of ``k`` samples of the fastest one's speedup; a sample that is wrong counts 0.

    With the speedups in ascending order the j-th is the best of ``C(j-1, k-1)`` choices. Unbiased. Source: Nichols et
    al. 2024, "Can Large Language Models Write Parallel Code?", https://arxiv.org/abs/2401.12554 (speedup_n@k).

    Raises:
        ValueError: there are fewer than ``k`` samples.
    """
    if not 1 <= k <= len(speedups):
        raise ValueError(f"no speedup@{k} of {len(speedups)} samples")
    ways = math.comb(len(speedups), k)
    return sum(math.comb(j, k - 1) / ways * speedup for j, speedup in enumerate(sorted(speedups)))


def faster(correct: Sequence[bool], speedups: Sequence[float | None], p: float) -> list[bool]:
    """Which samples count for fast_p: correct, and with a speedup over ``p``.

    KernelBench's fast_p is the share of these among all samples; fast_0 is correctness. A correct sample without a
    measured speedup counts for p = 0 only. Source: Ouyang et al. 2025, "KernelBench: Can LLMs Write Efficient GPU
    Kernels?", https://arxiv.org/abs/2502.10517, section 3.3; ``fastp`` in its src/kernelbench/score.py.
    """
    pairs = zip(correct, speedups, strict=True)
    return [right and (p == 0 if speedup is None else speedup > p) for right, speedup in pairs]


def geometric_mean(speedups: Sequence[float]) -> float | None:
    """The geometric mean of the speedups of correct samples; None where there are none.

    Source: ``geometric_mean_speed_ratio_correct_only`` in KernelBench's src/kernelbench/score.py (which gives 0 there).
    """
    return math.exp(math.fsum(math.log(s) for s in speedups) / len(speedups)) if speedups else None


def estimate(values: Sequence[float], share: bool = True) -> Estimate:
    """The mean over problems, with an interval for what other problems would have.

    The percentile interval of ``RESAMPLES`` bootstrap samples of problems; but Wilson's, the problems being its trials,
    for shares that leave nothing to resample: where each problem has all or nothing, or all have the same. Nought of
    100 problems is [0, 0] to the bootstrap, and up to 3.7 % to Wilson. Sources: Efron and Tibshirani 1993, "An
    Introduction to the Bootstrap", chapter 13; Wilson 1927, https://doi.org/10.1080/01621459.1927.10502953.

    Args:
        values: one a problem.
        share: whether they lie between 0 and 1, as speedups do not.

    Raises:
        ValueError: there is no problem.
    """
    if not values:
        raise ValueError("no mean of no problems")
    given = np.asarray(values, dtype=np.float64)
    mean = float(given.mean())
    if share and (np.isin(given, (0.0, 1.0)).all() or np.ptp(given) == 0):
        wilson = binomtest(round(given.sum()), len(given)).proportion_ci(CONFIDENCE, "wilson")
        return Estimate(mean, min(mean, wilson.low), max(mean, wilson.high))
    chosen = np.random.default_rng(0).integers(0, len(given), size=(RESAMPLES, len(given)))
    low, high = np.quantile(given[chosen].mean(axis=1), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(mean, float(low), float(high))
