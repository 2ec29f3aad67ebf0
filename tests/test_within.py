"""Numbers brought within reach: what a run that gave no answer says of them."""

from __future__ import annotations

from pathlib import Path

from kdata.record import Candidate, Origin, Task
from kdata.sandbox.worker import Answer, JobError
from kdata.verify.beyond import within
from kdata.verify.candidate.source import task_part
from kdata.verify.findings import Findings
from kdata.verify.judge import expect
from kdata.verify.options import Options

FILE = Path(__file__).parent / "kernels" / "good_layer_norm.py"


def test_a_number_whose_larger_one_takes_too_long_is_left_alone() -> None:
    """What fails with it smaller may be for its part in the answer: a larger one would have told."""
    row = "row = tl.program_id(0).to(tl.int64)"
    text = FILE.read_text().replace(row, f"{row} + tl.program_id(0) // 7919")
    task = Task.make(task_part(text), "Model", Origin("local", "tests", "", FILE.name))
    expected = expect(task.source, "Model", Options(targets=()))
    asked: list[str] = []

    def run(changed: str, chosen: object) -> Answer:
        asked.append(changed)
        if len(asked) % 2 == 0:
            raise JobError("timeout", "of the larger number")
        reports = [{"outcome": "ok", "detail": "", "aten": ["aten.sum"]} for _ in list(chosen)]  # type: ignore[call-overload]
        return Answer({"trials": reports, "manifest": []}, (), 0.0, {})

    found = Findings()
    within.look(Candidate.make(task, text, "triton", "test"), expected, run, found)
    assert len(asked) >= 2
    assert [c.passed for c in found.checks if c.name == within.CHECK] == [True]
