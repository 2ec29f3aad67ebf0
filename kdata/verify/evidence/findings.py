"""From a candidate's reports to a verdict: which check failed first, and what the failures have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from kdata.record import Build, Check, Timing, Trial
from kdata.sandbox.worker import Answer
from kdata.verify import reasons
from kdata.verify.evidence.compare import Tensors
from kdata.verify.evidence.shares import copied, untouched
from kdata.verify.evidence.sown import SHARE, grown
from kdata.verify.evidence.trial import ROUGH, Expected, alike, compare, overwrites
from kdata.verify.reference.styles import CONDITIONED

Launch = dict[str, Any]
CORRECT, SAME_BEHIND = "correct", "two equal calls leave the same behind"
EVALUATES = "answers in evaluation mode as the reference does"
MOST_UNTOUCHED = 0.5  # share of an answer that may be there without the candidate's kernels

# Reasons that may come of sizes: where they appear only at other sizes than the base ones, the sizes are the reason.
BY_SIZE = frozenset({reasons.WRONG, reasons.RAISES, reasons.STRUCTURE, reasons.OUT_OF_BOUNDS, reasons.STATE_DICT,
                     reasons.CONSTRUCTOR, reasons.MUTATES})  # fmt: skip


class RejectedError(Exception):
    """A candidate is rejected: a reason and a detail."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


@dataclass(slots=True)
class Findings:
    """What has been seen so far; the receipt is made of it whenever judging ends."""

    checks: list[Check] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    signatures: list[dict[str, Any]] = field(default_factory=list)  # launches of the first trial
    launched: list[dict[str, Any]] = field(default_factory=list)  # of all of them
    own: list[dict[str, Any]] = field(default_factory=list)  # at the task's own sizes, where other ones come first
    lowered: list[dict[str, Any]] = field(default_factory=list)  # of what was right with its numbers of sizes lowered
    failures: dict[int, str] = field(default_factory=dict)  # of trials, by their numbers: why each failed
    arms: set[tuple[int, bool]] = field(
        default_factory=set
    )  # of tests in what calls kernels, see kdata.verify.candidate.arms
    choices: int = 0  # configurations of the autotuner that has most of them
    unloaded: int | None = None  # the first trial in which a mask left out what has no value, see beyond.left_out
    products: bool | None = None  # whether any left its precision to Triton, see beyond.products
    builds: tuple[Build, ...] = ()
    unfused: bool = False  # draws out of the ordinary are right only where nothing is fused, see Judgement._excuse
    versions: tuple[str, ...] = ()  # of what compiled the candidate, beside what judges
    guards: tuple[str, ...] = ()
    mode: str = "train"
    device: str = ""
    timing: Timing | None = None

    def check(self, name: str, passed: bool, detail: str = "") -> None:
        """Note a check."""
        self.checks.append(Check(name, passed, detail))

    def saw(self, answer: Answer) -> Answer:
        """Note which arms a call took; the answer as it is."""
        self.arms |= {(number, arm) for number, arm in answer.value.get("arms", ())}
        return self.heard(answer)

    def heard(self, answer: Answer) -> Answer:
        """Note whether the products of its calls say how precise they are; the answer as it is."""
        reports = (*answer.value.get("trials", ()), *answer.value.get("tuned", ()))
        met = [report["products"] for report in reports if report.get("products") is not None]
        self.products = any((self.products, *met)) if met else self.products
        return answer


@dataclass(slots=True)
class Judgement:
    """One candidate's reports, and the order in which they are looked at."""

    expected: Expected
    numbers: list[int]  # of the trials, in the order of the reports
    value: dict[str, Any]  # the host's answer
    returned: Tensors
    has_kernel: bool
    own_sizes: tuple[int, ...] = ()  # of the task, scaled down here, that the candidate's text says literally
    failures: dict[int, str] = field(default_factory=dict)  # trial number: reason

    def decide(
        self, found: Findings, works_at_double: Callable[[], bool], works_alone: Callable[[int, bool], bool],
        unfused: Callable[[list[int]], dict[int, Trial]],
    ) -> None:  # fmt: skip
        """Note all checks; ``works_alone`` says whether one trial passes, run alone, forwards or backwards.

        ``unfused`` gives these trials as a GPU's compiler makes them that fuses nothing, if all of them pass then.

        Raises:
            RejectedError: one of them failed.
        """
        reports = self.value["trials"]
        found.signatures = reports[0]["launches"]
        found.launched = [launch for r in (*reports, *self.value.get("tuned", ())) for launch in r["launches"]]
        later: list[tuple[str, str]] = []
        for place, (number, report) in enumerate(zip(self.numbers, reports, strict=True)):
            trial, reason = compare(self.expected, number, report, self.returned)
            found.trials.append(trial)
            if reason and number in self.numbers[:place]:
                later.append((reason, f"{trial.sizes or 'own sizes'}, after a call at larger ones: {trial.detail}"))
            elif reason:
                self.failures[number] = reason
        found.unloaded = next((n for n, r in zip(self.numbers, reports, strict=True) if r.get("unloaded")), None)
        found.failures, found.choices = self.failures, int(self.value.get("choices", 0))
        self._genuine(found, reports)
        self._excuse(found, unfused)
        found.check(CORRECT, not self.failures, f"{len(reports) - len(self.failures)} of {len(reports)} trials")
        if self.failures:
            raise self._racing(found, works_alone) or self._wrong(found, works_at_double)
        if later:
            raise RejectedError(*later[0])
        small = [t.detail for n, t in zip(self.numbers, found.trials, strict=True)
                 if self.expected.trials[n]["style"] == "small"]  # fmt: skip
        if small:
            rough = next((detail for detail in small if detail.endswith(ROUGH)), "")
            found.check("as precise for small inputs", not rough, rough)
        self._keeps(found, reports)
        self._called_otherwise(found)
        self._depends(found)

    def _excuse(self, found: Findings, unfused: Callable[[list[int]], dict[int, Trial]]) -> None:
        """Take draws out of the ordinary, where only these fail, as they are without fused multiply-adds.

        Threads that add each other's products fuse each its own into the sum: they hold results that differ in a last
        bit, and exponentials of those that are far from zero are shares which do not add up to one.  Triton's
        ``tl.sum(q * k)`` compiles to this; nothing in a kernel's text is wrong with it.
        """
        if any(reason != reasons.WRONG for reason in self.failures.values()) or self._failing_on_ordinary():
            return
        right = unfused(list(self.failures)) if self.failures else {}
        for number, trial in right.items():
            found.trials[self.numbers.index(number)] = trial
            del self.failures[number]
        if right:
            found.unfused = True
            found.check("holds with fused multiply-adds", False, f"{len(right)} draws out of the ordinary do not")

    def _genuine(self, found: Findings, reports: list[dict[str, Any]]) -> None:
        """Own kernels launch wherever the call came through, and torch computes nothing."""
        called = list(dict.fromkeys(op for r in reports for op in r["aten"]))
        launched = [bool(r["launches"]) for r in reports if r["outcome"] == "ok"]
        found.check("no ATen compute", not called, ", ".join(called))
        found.check("own kernels launch", all(launched) and bool(launched))
        if launched and not all(launched) and (self.has_kernel or not called):
            detail = "in no trial" if not any(launched) else "in some trials"
            raise RejectedError(reasons.NOT_LAUNCHED, detail + (f"; it calls {', '.join(called)}" if called else ""))
        if called:
            raise RejectedError(reasons.ATEN, ", ".join(called))

    def _racing(self, found: Findings, works_alone: Callable[[int, bool], bool]) -> RejectedError | None:
        """Where only trials fail whose programs ran last to first: whether that is why."""
        turned = [n for n in self.failures if self.expected.trials[n]["backwards"]]
        if len(turned) < len(self.failures) or not works_alone(turned[0], False) or works_alone(turned[0], True):
            return None
        return RejectedError(reasons.ORDER, "right when they run first to last, wrong when they run last to first")

    def _keeps(self, found: Findings, reports: list[dict[str, Any]]) -> None:
        """What it returned stays as it was, and two equal calls leave the same behind."""
        first, repeated = self.numbers[0], self.value["repeated"]
        calls = [(first, reports[0]), (first, repeated), *zip(self.numbers[1:], reports[1:], strict=True)]
        overwritten = any(
            overwrites(report, later, self.expected.trials[number]["kept"], self.expected, self.returned)
            for (number, report), (_, later) in pairwise(calls)
        )
        found.check("outputs outlive the next call", not overwritten)
        if overwritten:
            raise RejectedError(reasons.OVERWRITES, "a later call changes what an earlier one returned")
        _, wrong = compare(self.expected, self.numbers[0], repeated, self.returned)
        if wrong:
            raise RejectedError(wrong, f"at the second of two equal calls: {repeated['detail']}")
        for tuned in self.value.get("tuned", ()):
            _, wrong = compare(self.expected, self.numbers[0], tuned, self.returned)
            if wrong:
                raise RejectedError(wrong, "with another of its configurations")
        for place, report in self.value.get("chosen_before", ()):
            _, wrong = compare(self.expected, self.numbers[place], report, self.returned)
            if wrong:
                raise RejectedError(wrong, "with what its tuner chose at other sizes: no key of it tells these apart")
        if "measured" in self.value:
            _, wrong = compare(self.expected, self.numbers[0], self.value["measured"], self.returned)
            if wrong:
                raise RejectedError(wrong, "where its tuner has run it before, and neither reset nor restored anything")
        for drawn in self.value.get("drawn", ()):
            _, wrong = compare(self.expected, self.numbers[0], drawn, self.returned)
            if wrong:
                raise RejectedError(wrong, "where its kernels draw numbers that seldom come: the reference draws none")
        stateless = repeated["before"] == repeated["after"]
        found.check(SAME_BEHIND, stateless)
        if not stateless:
            raise RejectedError(reasons.STATEFUL, "something it can reach differs after a second equal call")
        if len(set(self.value.get("kept", ()))) > 1:
            raise RejectedError(reasons.STATEFUL, "what it keeps differs after a call with other values")
        self._forgets(found, reports)
        if (report := self.value.get("sown")) and grown(reports[0], report, self.returned) > SHARE:
            raise RejectedError(reasons.STATEFUL, "it returns what stood in memory that it had not written")

    def _forgets(self, found: Findings, reports: list[dict[str, Any]]) -> None:
        """What earlier calls left in its memory does not matter: to a bit in the interpreter, where calls repeat so.

        What is stale may be as near as half precision asks for.
        """
        exact = not found.device and alike(reports[0], self.value["repeated"], self.returned)
        for place, report in self.value.get("mixed", ()):
            told, wrong = compare(self.expected, self.numbers[place], report, self.returned)
            if report["outcome"] != "ok":
                raise RejectedError(wrong, f"where a part of what it keeps is as before: {told.detail}")
            if wrong or (exact and not place and not alike(reports[0], report, self.returned)):
                raise RejectedError(reasons.STATEFUL, "it answers otherwise where a part of what it keeps is as before")

    def _called_otherwise(self, found: Findings) -> None:
        """In evaluation mode, with gradients enabled: it answers as the reference does, or as where it was judged.

        Kernels that refuse a call for which gradients are wanted are told of, and such as do not hear of ``eval()``:
        what a compiler has made for one mode is right in that mode.
        """
        refused, deaf, heard = "", "", False
        for trial, report in zip(self.expected.otherwise, self.value["called_otherwise"], strict=True):
            if report is None:  # it does what it does where it was judged
                deaf = deaf if trial["kept"] == trial["judged"] else trial["detail"]
                continue
            shown, wrong = compare(self.expected.at([trial]), 0, report, self.returned)
            if report["aten"]:
                raise RejectedError(reasons.ATEN, f"{trial['detail']}: {', '.join(report['aten'])}")
            if report["outcome"] == "ok" and not report["launches"]:
                raise RejectedError(reasons.NOT_LAUNCHED, trial["detail"])
            if wrong and trial["way"]["gradients"] != "off" and report["outcome"] == "raises":
                refused = f"{trial['detail']}: {shown.detail}"[:300]
            elif wrong and compare(self.expected.at([trial | {"kept": trial["judged"]}]), 0, report, self.returned)[1]:
                raise RejectedError(wrong, f"{trial['detail']}: {shown.detail}")
            elif wrong:
                deaf = trial["detail"]
            else:
                heard |= trial["kept"] != trial["judged"]
        if heard and deaf:
            raise RejectedError(reasons.WRONG, f"{deaf} it answers as in {self.expected.mode} mode at some sizes only")
        found.check("holds however it is called", not refused, refused)
        if any(trial["kept"] != trial["judged"] for trial in self.expected.otherwise):
            told = f"{deaf} it answers as in {self.expected.mode} mode" if deaf else ""
            found.check(EVALUATES, not deaf, told)

    def _wrong(self, found: Findings, works_at_double: Callable[[], bool]) -> RejectedError:
        """The reason behind failed trials: sizes, where only they make the difference."""
        trials = dict(zip(self.numbers, found.trials, strict=True))
        base = self.expected.numbers("base")
        first = next(iter(self.failures))
        detail = f"{trials[first].sizes or 'own sizes'}: {self.failures[first]}: {trials[first].detail}"
        if any(n in self.failures for n in base):
            first = next(n for n in base if n in self.failures)
            same = all(self.failures.get(n) in BY_SIZE for n in self.numbers) and self._blind()
            if same and trials[first].sizes:  # scaled down: the task's own sizes were not run
                return RejectedError(reasons.BAKED_IN, f"its launches are the same at all sizes; {detail}")
            if self.own_sizes and all(self.failures.get(n) in BY_SIZE for n in self.numbers):
                return RejectedError(reasons.BAKED_IN, f"it says {', '.join(map(str, self.own_sizes))}; {detail}")
            return RejectedError(self.failures[first], f"{trials[first].sizes or 'own sizes'}: {trials[first].detail}")
        if self.failures[first] not in BY_SIZE:
            return RejectedError(self.failures[first], detail)
        failed = {self.expected.trials[n]["variant"] for n in self.failures}
        if not failed & self._failing_on_ordinary():
            return RejectedError(self.failures[first], detail)  # the values make the difference, not the sizes
        others = {self.expected.trials[n]["variant"] for n in self.numbers if n not in base}
        if all(self.expected.variants[v]["kind"] == "large" for v in failed):
            return RejectedError(reasons.WRONG_LARGE, detail)
        odd_only = bool(others - failed) or works_at_double()
        return RejectedError(reasons.WRONG_ODD if odd_only else reasons.BAKED_IN, detail)

    def _failing_on_ordinary(self) -> set[int]:
        """The variants at which even inputs of the task's own kind are answered wrongly."""
        trials = self.expected.trials
        return {trials[n]["variant"] for n in self.failures if trials[n]["style"] not in CONDITIONED}

    def _blind(self) -> bool:
        """Whether the launches (grids and arguments) do not change with the sizes at all, though there were some."""
        reports = self.value["trials"]
        variants = {
            self.expected.trials[n]["variant"]: r["launches"] for n, r in zip(self.numbers, reports, strict=True)
        }
        launches = [v for v in variants.values() if v]
        return len(launches) > 1 and all(v == launches[0] for v in launches)

    def _depends(self, found: Findings) -> None:
        """With its kernels disabled the answer must break, and with failing launches it must fail."""
        number = self.numbers[0]
        share = min(self._untouched(number, self.value[name]) for name in ("ablated", "otherwise"))
        found.check("answer depends on its kernels", share <= MOST_UNTOUCHED)
        if share > MOST_UNTOUCHED:
            raise RejectedError(reasons.INDEPENDENT, f"with its kernels disabled {share:.0%} of the answer is right")
        share = copied(self.expected, number, self.value["trials"][0], self.returned)
        found.check("its kernels compute", share <= MOST_UNTOUCHED)
        if share > MOST_UNTOUCHED:
            raise RejectedError(reasons.INDEPENDENT, f"{share:.0%} of the answer stood there before its kernels ran")
        if self.value["trials"][0].get("filled"):
            raise RejectedError(reasons.INDEPENDENT, "no kernel wrote what it returns: Python made it of what it read")
        loud = self.value["failing"]["outcome"] != "ok"
        found.check("a failing launch is an error", loud)
        if not loud:
            raise RejectedError(reasons.FALLBACK, "when a launch fails it returns something all the same")

    def _untouched(self, number: int, ablated: dict[str, Any]) -> float:
        """The share of an answer that is right without its kernels."""
        _, broken = compare(self.expected, number, ablated, self.returned)
        return (
            untouched(self.expected, number, ablated, self.returned) if broken == reasons.WRONG else float(not broken)
        )
