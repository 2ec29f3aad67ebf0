"""From marks to the numbers of a suite: by rule, by level, by operator family, by problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kdata.record import Receipt
from kdata.verify.kernelbench.verdict import Upstream
from sft import metrics
from sft.grades import RULES, Mark, marks
from sft.suites import Problem

KS = (1, 5, 10, 20)
PS = (0.0, 1.0, 1.5, 2.0)
BASELINES: Mapping[str, Callable[[Mark], float | None]] = {"eager": lambda m: m.eager, "compile": lambda m: m.compile}


@dataclass(frozen=True, slots=True)
class Result:
    """One answer with all that is known of it: a row of ``answers.parquet``."""

    id: str  # of the request: prompt and seed
    problem: str
    level: int
    family: str
    task_id: str
    model: str
    seed: int
    text: str
    finish: str
    tokens: int | None
    source: str  # the program read from it, "" for none
    failure: str  # why it is not verified, "" where it is
    detail: str
    receipt: Receipt | None = None
    upstream: Upstream | None = None

    @property
    def marks(self) -> dict[str, Mark]:
        """Each rule's mark."""
        return marks(self.receipt, self.upstream)


def summarise(problems: Sequence[Problem], results: Sequence[Result], timed: bool) -> dict[str, Any]:
    """All numbers, as plain JSON values.

    Args:
        problems: of the suite; each must have a result a sample.
        results: of all answers.
        timed: whether there are speedups.
    """
    by_task: dict[str, list[Result]] = {p.id: [] for p in problems}
    for result in results:
        by_task[result.task_id].append(result)
    rows = [_problem(p, by_task[p.id]) for p in problems]
    return {
        "scores": {rule: _groups(problems, by_task, rule, timed) for rule in RULES},
        "failures": _failures(results),
        "timings": dict(sorted(Counter(r.receipt.timing.label or "sound" for r in results
                                       if r.receipt and r.receipt.timing).items())),
        "problems": rows,
    }  # fmt: skip


def numbers(marked: Sequence[Sequence[Mark]], timed: bool) -> dict[str, Any]:
    """The metrics of a group of problems, each with its samples' marks, as many for each."""
    count = min(len(samples) for samples in marked)
    ks = sorted({k for k in (*KS, count) if k <= count})
    per_problem: dict[str, list[float]] = {
        "compiled": [_share([m.compiled for m in samples]) for samples in marked],
        "correct": [_share([m.correct for m in samples]) for samples in marked],
    }
    for k in ks:
        per_problem[f"pass@{k}"] = [_passes([m.correct for m in samples], k) for samples in marked]
    for name, speedup in BASELINES.items() if timed else ():
        per_problem |= _speeds(marked, name, speedup, ks)
    return {
        name: asdict(metrics.estimate(values, share=not name.startswith("speedup@")))
        for name, values in per_problem.items()
    }


def _speeds(
    marked: Sequence[Sequence[Mark]], name: str, speedup: Callable[[Mark], float | None], ks: Sequence[int]
) -> dict[str, list[float]]:
    """fast_p and speedup@k over one baseline, problem by problem."""
    found: dict[str, list[float]] = {}
    for p in PS:
        fast = [metrics.faster([m.correct for m in s], [speedup(m) for m in s], p) for s in marked]
        for k in ks:
            found[f"fast_{p:g}@{k} over {name}"] = [_passes(passed, k) for passed in fast]
    for k in ks:
        found[f"speedup@{k} over {name}"] = [
            metrics.speedup_at_k([(speedup(m) or 0.0) if m.correct else 0.0 for m in s], k) for s in marked
        ]
    return found


def _groups(
    problems: Sequence[Problem], by_task: Mapping[str, Sequence[Result]], rule: str, timed: bool
) -> dict[str, Any]:
    """The numbers of all problems, of each level and of each family."""

    def group(chosen: Sequence[Problem]) -> dict[str, Any]:
        marked = [[r.marks[rule] for r in by_task[p.id]] for p in chosen]
        found = {"problems": len(chosen), "samples": sum(map(len, marked)), "metrics": numbers(marked, timed)}
        return found | ({"geometric_mean": _geometric(marked)} if timed else {})

    levels, families = sorted({p.level for p in problems}), sorted({p.family for p in problems})
    return {
        "all": group(problems),
        "levels": {str(level): group([p for p in problems if p.level == level]) for level in levels},
        "families": {name: group([p for p in problems if p.family == name]) for name in families},
    }


def _geometric(marked: Sequence[Sequence[Mark]]) -> dict[str, float | None]:
    """Of all correct samples together, over each baseline."""
    every = [m for samples in marked for m in samples if m.correct]
    return {name: metrics.geometric_mean([s for m in every if (s := speedup(m)) is not None])
            for name, speedup in BASELINES.items()}  # fmt: skip


def _problem(problem: Problem, results: Sequence[Result]) -> dict[str, Any]:
    """One line of the per-problem table."""
    row: dict[str, Any] = {"problem": problem.name, "level": problem.level, "family": problem.family,
                           "task_id": problem.id, "samples": len(results)}  # fmt: skip
    for rule in RULES:
        given = [r.marks[rule] for r in results]
        right = [m for m in given if m.correct]
        row[rule] = {"compiled": sum(m.compiled for m in given), "correct": len(right)} | {
            f"best over {name}": max((s for m in right if (s := speedup(m))), default=None)
            for name, speedup in BASELINES.items()
        }
    return row | {"failures": _failures(results)}


def _failures(results: Sequence[Result]) -> dict[str, int]:
    """Reasons, commonest first."""
    counted = Counter(r.failure for r in results if r.failure)
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values)


def _passes(values: Sequence[bool], k: int) -> float:
    return metrics.pass_at_k(len(values), sum(values), k)
