"""The numbers of an evaluation against enumeration, hand calculation and KernelBench's own formulas."""

from __future__ import annotations

import importlib.util
import math
import os
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kdata.record import Origin, Receipt, Series, Task, Timing
from kdata.verify.kernelbench.verdict import Upstream
from sft.grades import LOOSE, VERIFIED, marks
from sft.metrics import estimate, faster, geometric_mean, pass_at_k, speedup_at_k
from sft.scores import Result, summarise
from sft.suites import Problem


@pytest.mark.parametrize(("samples", "passed"), [(1, 0), (1, 1), (6, 0), (6, 1), (6, 4), (6, 6), (9, 3)])
def test_pass_at_k_is_the_share_of_choices_with_a_pass(samples: int, passed: int) -> None:
    outcomes = [True] * passed + [False] * (samples - passed)
    for k in range(1, samples + 1):
        choices = list(combinations(outcomes, k))
        assert pass_at_k(samples, passed, k) == pytest.approx(sum(map(any, choices)) / len(choices))


@pytest.mark.parametrize(("samples", "passed", "k"), [(5, 2, 6), (5, 6, 1), (5, -1, 1), (5, 2, 0), (0, 0, 1)])
def test_no_pass_at_k_of_too_few_samples(samples: int, passed: int, k: int) -> None:
    with pytest.raises(ValueError, match="no pass@"):
        pass_at_k(samples, passed, k)


def test_speedup_at_k_is_the_mean_best_of_all_choices() -> None:
    speedups = [0.0, 1.7, 0.4, 0.0, 3.1, 1.7]
    for k in range(1, 7):
        choices = list(combinations(speedups, k))
        assert speedup_at_k(speedups, k) == pytest.approx(sum(map(max, choices)) / len(choices))
    with pytest.raises(ValueError, match="speedup@7"):
        speedup_at_k(speedups, 7)


def test_fast_p_counts_correct_samples_over_the_threshold() -> None:
    correct, speedups = [True, True, False, True, True], [0.5, 1.0, 3.0, 2.5, None]
    assert faster(correct, speedups, 0) == [True, True, False, True, True]
    assert faster(correct, speedups, 1) == [False, False, False, True, False]
    assert faster(correct, speedups, 2.5) == [False] * 5


def test_the_interval_is_that_of_resampled_problems() -> None:
    values = [0.1] * 70 + [0.9] * 30
    found = estimate(values)
    half = 1.96 * np.std(values) / 10  # of the normal approximation
    assert found.value == pytest.approx(0.34)
    assert found.low == pytest.approx(0.34 - half, abs=0.02)
    assert found.high == pytest.approx(0.34 + half, abs=0.02)
    assert found == estimate(values)
    with pytest.raises(ValueError, match="no problem"):
        estimate([])


@pytest.mark.parametrize(("right", "of"), [(0, 100), (30, 100), (100, 100), (0, 1), (1, 1), (1, 2)])
def test_the_interval_of_all_or_nothing_is_wilsons(right: int, of: int) -> None:
    """No problem solved of a hundred is no proof that none ever will be."""
    found = estimate([1.0] * right + [0.0] * (of - right))
    assert found.low <= right / of <= found.high and found.low < found.high
    for end in (found.low, found.high):  # as far off as 95 % of samples of its own are at most: Wilson's equation
        assert (right / of - end) ** 2 == pytest.approx(1.959964**2 * end * (1 - end) / of, abs=1e-6)


def test_problems_that_are_all_alike_have_an_interval_unless_they_are_no_shares() -> None:
    found = estimate([0.5] * 7)
    assert 0.15 < found.low < 0.5 < found.high < 0.85
    assert (lambda e: (e.value, e.low, e.high))(estimate([2.0] * 7, share=False)) == (2.0, 2.0, 2.0)


def test_geometric_mean() -> None:
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert geometric_mean([]) is None


@pytest.fixture(scope="module")
def upstream() -> Any:
    """KernelBench's scorer, where KDATA_KERNELBENCH names a checkout of it."""
    folder = os.environ.get("KDATA_KERNELBENCH")
    if not folder:
        pytest.skip("KDATA_KERNELBENCH names no checkout of KernelBench")
    spec = importlib.util.spec_from_file_location("score", Path(folder) / "src" / "kernelbench" / "score.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_kernelbenchs_own_scorer_agrees(upstream: Any) -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        correct = random.random(40) < 0.4
        correct[0] = True
        baseline, actual = random.lognormal(0, 1, 40), random.lognormal(0, 1, 40)
        speedups = list(baseline / actual)
        for p in (0.0, 0.5, 1.0, 1.5, 2.0):
            ours = sum(faster(list(correct), speedups, p)) / 40
            assert ours == pytest.approx(upstream.fastp(correct, baseline, actual, 40, p))
        right = [s for s, c in zip(speedups, correct, strict=True) if c]
        theirs = upstream.geometric_mean_speed_ratio_correct_only(correct, baseline, actual, 40)
        assert geometric_mean(right) == pytest.approx(theirs)


def timing(candidate: float, eager: float, compiled: float, label: str = "") -> Timing:
    series = tuple(Series(name, (t - 0.1, t, t + 0.2), (), ()) for name, t in
                   (("candidate", candidate), ("eager", eager), ("compile", compiled)))  # fmt: skip
    return Timing("1", "GPU", "1", "ieee", label, "compile", 1.0, 1.0, 1.0, 1.0, 1.0, candidate, 0.0, 1.0, (), 1, 3,
                  series=series)  # fmt: skip


def problem(name: str, level: int = 1, family: str = "softmax") -> Problem:
    return Problem(name, level, Task.make(f"# {name}\nname = {name!r}", "Model", Origin("t", "t", "", name)), family)


def result(of: Problem, seed: int, receipt: Receipt | None, upstream: Upstream | None = None) -> Result:
    failure = "no fenced block" if receipt is None else receipt.reason
    return Result(f"{of.name}{seed}", of.name, of.level, of.family, of.id, "m", seed, "", "stop", 1, "", failure, "",
                  receipt, upstream or (Upstream(False, False, False) if receipt else None))  # fmt: skip


def good(*times: float, label: str = "") -> Receipt:
    return Receipt("c", "verified", "", timing=timing(*times, label=label))


def test_speedups_are_counted_by_hand() -> None:
    one, two = problem("one"), problem("two", 2, "linear")
    results = [
        result(one, 0, good(10, 20, 5), Upstream(True, True, True, "", 10, 30, 10)),
        result(one, 1, good(10, 12, 20)),
        result(one, 2, Receipt("c", "rejected", "wrong result"), Upstream(True, False, True, "", 10, 20, 20)),
        result(one, 3, None),
        result(two, 0, good(10, 90, 90, label="extraordinary")),
        result(two, 1, Receipt("c", "verified", "")),
        result(two, 2, Receipt("c", "rejected", "raises", "on import: NameError")),
        result(two, 3, Receipt("c", "rejected", "raises", "in forward")),
    ]
    summary = summarise([one, two], results, timed=True)
    own = {k: v["value"] for k, v in summary["scores"][VERIFIED]["all"]["metrics"].items()}
    assert own["compiled"] == pytest.approx((3 / 4 + 3 / 4) / 2)
    assert own["correct"] == own["pass@1"] == own["fast_0@1 over eager"] == 0.5
    assert own["fast_1@1 over eager"] == pytest.approx((2 / 4 + 0) / 2)  # what is extraordinary does not count
    assert own["fast_1.5@1 over eager"] == pytest.approx((1 / 4 + 0) / 2)
    assert own["fast_2@1 over eager"] == 0  # 2.0 is not over 2
    assert own["fast_1@1 over compile"] == pytest.approx((1 / 4 + 0) / 2)
    assert own["fast_1@4 over eager"] == 0.5
    assert own["speedup@1 over eager"] == pytest.approx((2.0 + 1.2) / 4 / 2)
    assert own["speedup@4 over compile"] == pytest.approx(2.0 / 2)
    assert summary["scores"][VERIFIED]["all"]["geometric_mean"]["eager"] == pytest.approx(math.sqrt(2.0 * 1.2))
    loose = {k: v["value"] for k, v in summary["scores"][LOOSE]["levels"]["1"]["metrics"].items()}
    assert (loose["correct"], loose["fast_2@1 over eager"], loose["speedup@4 over eager"]) == (0.5, 0.25, 3.0)
    assert summary["scores"][VERIFIED]["families"]["linear"]["metrics"]["correct"]["value"] == 0.5
    assert summary["timings"] == {"extraordinary": 1, "sound": 2}
    assert summary["failures"] == {"raises": 2, "no fenced block": 1, "wrong result": 1}
    assert summary["problems"][0][VERIFIED] == {"compiled": 3, "correct": 2, "best over eager": 2.0, "best over compile": 2.0}  # fmt: skip
    assert not [m for m in summarise([one, two], results, False)["scores"][VERIFIED]["all"]["metrics"] if "over" in m]


def test_what_could_not_be_judged_is_not_correct() -> None:
    undecided = marks(Receipt("c", "unverified", "the GPU is lost"), Upstream(True, True, True))
    assert not undecided[VERIFIED].correct
    assert not undecided[VERIFIED].compiled
    assert undecided[LOOSE].correct
