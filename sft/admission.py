"""Which problems of a suite our judge can give a verdict on at all: of the others no answer could ever be verified."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from kdata.record import Dropped
from kdata.step import Step
from kdata.verify.evidence.expecting import UndecidedError, expect
from kdata.verify.options import Options
from kdata.verify.receipts import harness
from sft.suites import Problem

# KernelBench's problems are all asked, whatever we think of them: papers count them all.
ADMITTED = ("tritonbench",)  # suites that were not made for it, whose problems are looked at first


def admit_step(options: Options) -> Step[Problem, Problem]:
    """The stage that runs each problem's reference as the judge will, and drops what is no measure of an answer."""
    asked = replace(options, targets=(), device="cpu", precision="ieee")

    def admit(problems: Sequence[Problem]) -> Iterator[Problem | Dropped]:
        for problem in problems:
            try:
                expect(problem.task.source, problem.task.entry_point, asked)
            except UndecidedError as undecided:
                yield Dropped("admit", problem.id, undecided.reason, undecided.detail, problem.name)
            else:
                yield problem

    parameters = asdict(asked) | {"targets": [], "baselines": list(asked.baselines), "judge": harness()}
    return Step("admit", "1", Problem, Problem, admit, parameters)
