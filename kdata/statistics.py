"""What there is to say in numbers about a set of pairs: counted once, here, for the card, the report and the README."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kdata.record import Dropped, Pair
from kdata.shards import Manifest

HALF = frozenset({"float16", "bfloat16"})
UNKNOWN = "unknown"
# In this order stages are told of, whatever order their records come in; others follow by name.
PIPELINE = ("collect", "cut", "mine", "align", "verify", "filter", "leakage", "dedup", "diversity")


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a funnel, over all its shards."""

    name: str
    kept: int
    dropped: int
    reasons: Mapping[str, int]  # most frequent first
    kind: str = ""  # record class that it makes
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Funnel:
    """From source files to pairs: what each stage kept, in order."""

    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True, slots=True)
class Spread:
    """How a quantity is spread over the set. Quantiles are members of the set (nearest rank), so integers stay so."""

    count: int
    least: float
    median: float
    p90: float
    most: float
    mean: float


@dataclass(frozen=True, slots=True)
class Target:
    """What the compiler said about the set's kernels for one GPU."""

    name: str
    kernels: int
    failed: int
    spilling: int
    registers: Spread | None
    shared: Spread | None  # bytes


@dataclass(frozen=True, slots=True)
class Statistics:
    """The facts about a set of pairs. Mappings are ordered: most frequent first, then by name."""

    pairs: int
    tasks: int
    repositories: Mapping[str, int]
    sources: Mapping[str, int]
    licenses: Mapping[str, int]
    families: Mapping[str, int]
    operators: Mapping[str, int]  # pairs that use it
    languages: Mapping[str, int]
    makers: Mapping[str, int]
    verdicts: Mapping[str, int]
    modes: Mapping[str, int]
    levels: Mapping[str, int]
    isolations: Mapping[str, int]
    dtypes: Mapping[str, int]  # pairs tried in it
    checks: Mapping[str, int]  # pairs that passed it
    harnesses: Mapping[str, int]  # hash of the judge's source
    left_to_aten: int  # pairs with any operator left to ATen
    timed: int  # pairs with a speedup measured on a GPU
    synthetic: int  # pairs of tasks that a program of ours wrote
    trials: int
    failed_trials: int
    variants: Spread | None  # distinct input shapes tried a pair
    errors: Spread | None  # largest absolute error of a pair against fp64
    ratios: Spread | None  # a trial's RMSE over that of eager PyTorch in the same dtype, where eager errs at all
    lines: Spread | None  # non-blank lines of a candidate
    launches: Spread | None  # kernel launches of a forward pass
    targets: tuple[Target, ...]
    dropped: Mapping[str, Mapping[str, int]]  # stage -> reason -> records


def describe(pairs: Sequence[Pair], dropped: Sequence[Dropped] = ()) -> Statistics:
    """Count everything about a set."""
    origins = [p.task.origin for p in pairs]
    trials = [t for p in pairs for t in p.receipt.trials]
    return Statistics(
        pairs=len(pairs),
        tasks=len({p.task.id for p in pairs}),
        repositories=ranked(o.repository for o in origins),
        sources=ranked(o.source for o in origins),
        licenses=ranked(licence(p) for p in pairs),
        families=ranked(p.candidate.family or UNKNOWN for p in pairs),
        operators=ranked(op for p in pairs for op in set(p.candidate.ops)),
        languages=ranked(p.candidate.language for p in pairs),
        makers=ranked(p.candidate.made_by for p in pairs),
        verdicts=ranked(p.receipt.verdict for p in pairs),
        modes=ranked(p.receipt.mode for p in pairs),
        levels=ranked(p.receipt.level for p in pairs),
        isolations=ranked(p.receipt.isolation or UNKNOWN for p in pairs),
        dtypes=ranked(d for p in pairs for d in {t.dtype for t in p.receipt.trials}),
        checks=ranked(c for p in pairs for c in {c.name for c in p.receipt.checks if c.passed}),
        harnesses=ranked(p.receipt.harness or UNKNOWN for p in pairs),
        left_to_aten=sum(1 for p in pairs if p.candidate.left_to_aten),
        timed=sum(1 for p in pairs if p.receipt.timing),
        synthetic=sum(map(synthetic, pairs)),
        trials=len(trials),
        failed_trials=sum(1 for t in trials if not t.passed),
        variants=spread(len({t.shapes for t in p.receipt.trials}) for p in pairs if p.receipt.trials),
        errors=spread(filter(math.isfinite, map(max_error, pairs))),
        ratios=spread(filter(math.isfinite, (t.rmse / t.rmse_reference for t in trials if t.rmse_reference > 0))),
        lines=spread(lines(p.candidate.source) for p in pairs),
        launches=spread(len(p.receipt.launches) for p in pairs if p.receipt.launches),
        targets=targets(pairs),
        dropped=_reasons(dropped),
    )


def funnel(stages: Mapping[str, Sequence[Manifest]]) -> Funnel:
    """The manifests of each stage's shards, stages in order of the pipeline, as a funnel."""
    return Funnel(tuple(_stage(name, manifests) for name, manifests in stages.items() if manifests))


def ranked(values: Iterable[str]) -> dict[str, int]:
    """Counts, most frequent first, then by name."""
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def spread(values: Iterable[float]) -> Spread | None:
    """Summary of some numbers, None of none."""
    found = sorted(values)
    if not found:
        return None
    rank: Callable[[float], float] = lambda q: found[max(0, math.ceil(q * len(found)) - 1)]  # noqa: E731
    return Spread(len(found), found[0], rank(0.5), rank(0.9), found[-1], math.fsum(found) / len(found))


def licence(pair: Pair) -> str:
    """The licences of a pair's origin as one SPDX expression; all of them hold."""
    found = [f"({x})" if " OR " in x and len(pair.task.origin.licenses) > 1 else x for x in pair.task.origin.licenses]
    return " AND ".join(sorted(found)) or UNKNOWN


def synthetic(pair: Pair) -> bool:
    """Whether nobody wrote the task: the programs of the source ``ops:torch``."""
    return pair.task.origin.source == "ops"


def lines(source: str) -> int:
    """Non-blank lines."""
    return sum(1 for line in source.splitlines() if line.strip())


def max_error(pair: Pair) -> float:
    """Largest absolute error of a pair over its trials in the task's own dtypes, NaN if it has none.

    Trials in half precision that trust level adds for a task of another dtype do not count.
    """
    trials = pair.receipt.trials
    added = HALF - {t.dtype for t in trials[:1]}
    return max((t.max_abs for t in trials if t.dtype not in added), default=math.nan)


def targets(pairs: Sequence[Pair]) -> tuple[Target, ...]:
    """Per GPU compiled for, by name."""
    builds = [b for p in pairs for b in p.receipt.builds]
    return tuple(
        Target(
            name=name,
            kernels=len(own),
            failed=sum(1 for b in own if b.error),
            spilling=sum(1 for b in own if b.spills),
            registers=spread(b.registers for b in own if b.registers is not None),
            shared=spread(b.shared for b in own if b.shared is not None),
        )
        for name in sorted({b.target for b in builds})
        for own in [[b for b in builds if b.target == name]]
    )


def _stage(name: str, manifests: Sequence[Manifest]) -> Stage:
    reasons: Counter[str] = Counter()
    for manifest in manifests:
        reasons.update(manifest.reasons)
    return Stage(
        name,
        sum(m.kept for m in manifests),
        sum(m.dropped for m in manifests),
        dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        manifests[0].kind,
        round(sum(m.seconds for m in manifests), 1),
    )


def _reasons(dropped: Sequence[Dropped]) -> dict[str, dict[str, int]]:
    place = {stage: i for i, stage in enumerate(PIPELINE)}
    stages = sorted({d.stage for d in dropped}, key=lambda s: (place.get(s, len(place)), s))
    return {stage: ranked(d.reason for d in dropped if d.stage == stage) for stage in stages}
