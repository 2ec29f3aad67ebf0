"""From a verdict to marks: what each rule says of an answer. Our own judge's rule, and KernelBench's beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from kdata.record import Candidate, Dropped, Receipt, Timing
from kdata.step import Step
from kdata.verify import reasons
from kdata.verify.judge import judge
from kdata.verify.kernelbench import verdict as kernelbench
from kdata.verify.kernelbench.verdict import Upstream
from kdata.verify.options import Options
from kdata.verify.receipts import harness

VERIFIED, KERNELBENCH, LOOSE = RULES = ("verified", "kernelbench", "kernelbench v0.1")
ABOUT: Mapping[str, str] = {
    VERIFIED: "kdata's judge: right at several sizes, draws and weights within tolerances by dtype against fp64, by "
    "its own kernels alone, which compile for the targets; speedups are ratios of medians on the device",
    KERNELBENCH: "KernelBench's rule at commit 423217d (src/kernelbench/eval.py): 5 draws at one set of sizes, "
    "seed 42, atol = rtol = 1e-4 in fp32; speedups are ratios of means of 100 calls (src/kernelbench/timing.py)",
    LOOSE: "the same with atol = rtol = 1e-2, KernelBench's tolerance in v0 and v0.1: what most papers report",
}
# Of our judge's reasons those for which KernelBench would not say "compiled": the program never came to be called.
UNCOMPILED = frozenset({
    reasons.NOT_PYTHON, reasons.TOO_LONG, reasons.NO_MODEL_NEW, reasons.FORBIDDEN_IMPORT, reasons.ABSENT_PACKAGE,
    reasons.BEHIND,
})  # fmt: skip
SOUND = ("", "launch-bound")  # labels of timings that count


@dataclass(frozen=True, slots=True)
class Graded:
    """A candidate's verdicts."""

    id: str  # the candidate's
    receipt: Receipt
    upstream: Upstream


@dataclass(frozen=True, slots=True)
class Mark:
    """What a rule says of one answer. Speedups are over eager PyTorch and torch.compile, None where not measured."""

    compiled: bool = False
    correct: bool = False
    eager: float | None = None
    compile: float | None = None


def grade_step(options: Options, language: str = "triton") -> Step[Candidate, Graded]:
    """The stage that judges candidates by all rules. Where it is the judge that failed, a later run tries again.

    ``language``: of the candidates, whose ids do not tell it.
    """

    def grade(candidates: Sequence[Candidate]) -> Iterator[Graded | Dropped]:
        for candidate in candidates:
            try:
                yield _grade(candidate, options)
            except Exception as error:  # noqa: BLE001 - the judge's own fault must cost one verdict, not the evaluation
                detail = f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
                yield Dropped("grade", candidate.id, reasons.INTERNAL, detail)

    parameters = asdict(options) | {"targets": list(options.targets), "baselines": list(options.baselines)}
    parameters |= {"language": language} if language != "triton" else {}
    parameters |= {"judge": harness(), "kernelbench": kernelbench.harness()}
    return Step("grade", "1", Candidate, Graded, grade, parameters)


def marks(receipt: Receipt | None, upstream: Upstream | None) -> dict[str, Mark]:
    """Each rule's mark; all fail where there was no candidate to judge."""
    if receipt is None or upstream is None:
        return dict.fromkeys(RULES, Mark())
    eager, compiled = _ratio(upstream.eager, upstream.candidate), _ratio(upstream.compile, upstream.candidate)
    return {
        VERIFIED: _own(receipt),
        KERNELBENCH: Mark(upstream.compiled, upstream.correct, eager, compiled),
        LOOSE: Mark(upstream.compiled, upstream.correct_loose, eager, compiled),
    }


def _grade(candidate: Candidate, options: Options) -> Graded | Dropped:
    receipt = judge(candidate.task, candidate, options)
    if receipt.reason == reasons.GPU_LOST:
        return Dropped("grade", candidate.id, receipt.reason, receipt.detail)
    return Graded(candidate.id, receipt, _upstream(candidate, options))


def _upstream(candidate: Candidate, options: Options) -> Upstream:
    if options.device == "cuda":
        return kernelbench.judge(candidate, options)
    sizes = kernelbench.small_sizes(candidate, options)
    if sizes is None:
        return Upstream(False, False, False, "the task cannot be scaled down for a CPU")
    return kernelbench.judge(candidate, options, sizes)


def _own(receipt: Receipt) -> Mark:
    imported = not (receipt.reason == reasons.RAISES and receipt.detail.startswith("on import"))
    compiled = receipt.reason not in UNCOMPILED and not receipt.reason.startswith(reasons.NO_COMPILE) and imported
    if receipt.verdict != "verified":
        return Mark(compiled and (receipt.verdict == "rejected" or receipt.reason == reasons.SLOW))
    timing = receipt.timing
    return Mark(True, True, _speedup(timing, "eager"), _speedup(timing, "compile"))


def _speedup(timing: Timing | None, baseline: str) -> float | None:
    """The ratio of medians over a baseline; None where it was not measured, or not soundly."""
    if timing is None or timing.label not in SOUND:
        return None
    times = {series.name: median(series.gpu) for series in timing.series if series.gpu}
    return _ratio(times.get(baseline), times.get("candidate"))


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above and below else None
