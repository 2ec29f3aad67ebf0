"""Verification as a stage: a pair for each verified candidate; the others are dropped with theirs, receipt and all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Literal

from kdata.record import Candidate, Dropped, Pair, Receipt
from kdata.sandbox import isolation
from kdata.step import Step
from kdata.verify import reasons
from kdata.verify.judge import Rule, judge
from kdata.verify.kernelbench.verdict import receipt
from kdata.verify.options import Level, Options, Precision
from kdata.verify.receipts import harness


def step(
    targets: Sequence[str] = ("sm_90", "gfx942"), seeds: int | None = None, variants: int | None = None,
    seed: int = 0, timeout: float = 60.0, memory: int = 6 << 30, level: Level = "screen",
    device: Literal["cpu", "cuda"] = "cpu", precision: Precision = "ieee",
) -> Step[Candidate, Pair]:  # fmt: skip
    """The stage that judges each candidate of a shard; for the parameters see ``Options``."""
    options = Options(tuple(targets), seeds, variants, seed, timeout, memory, level, device, precision=precision)

    def verify(candidates: Sequence[Candidate]) -> Iterator[Pair | Dropped]:
        for candidate in candidates:
            pair = Pair(candidate, _judge(candidate, options))
            yield pair if pair.receipt.verdict == "verified" else _drop(pair)

    parameters = asdict(options) | {"targets": list(options.targets), "baselines": list(options.baselines)}
    if required := isolation.required():  # what was judged behind less is judged again
        parameters["isolation"] = list(required)
    return Step("verify", harness(), Candidate, Pair, verify, parameters)


def rule(level: Level) -> Rule:
    """Who judges at a level: our judge, or KernelBench's rule."""
    return receipt if level == "kernelbench" else judge


def _drop(pair: Pair) -> Dropped:
    task, receipt = pair.task, pair.receipt
    name = f"{task.origin.repository}:{task.symbol or task.entry_point}"
    return Dropped("verify", pair.id, receipt.reason or receipt.verdict, receipt.detail, name, pair=pair)


def _judge(candidate: Candidate, options: Options) -> Receipt:
    try:
        return rule(options.level)(candidate.task, candidate, options)
    except isolation.IsolationError:
        raise  # true of every candidate here
    except Exception as error:  # noqa: BLE001 - the judge's own fault must cost one receipt, not the shard
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
        return Receipt(candidate.id, "unverified", reasons.INTERNAL, text, harness=harness())
