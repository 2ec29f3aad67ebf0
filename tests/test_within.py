"""Numbers brought within reach: what a run that gave no answer says of them."""

from __future__ import annotations

from pathlib import Path

from kdata.record import Candidate, Origin, Task
from kdata.sandbox.worker import Answer, JobError
from kdata.verify.beyond import within
from kdata.verify.candidate.source import task_part
from kdata.verify.evidence.findings import Findings
from kdata.verify.judge import expect
from kdata.verify.options import Options

CLAMPED = """import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, most=700):
        super().__init__()
        self.most = most

    def forward(self, x):
        return x * torch.arange(x.shape[0]).clamp(max=self.most - 1)


def get_inputs():
    return [torch.randn(96)]


def get_init_inputs():
    return []


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.minimum(i, LAST), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, most=700):
        super().__init__()

    def forward(self, x):
        out = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
        return out
"""
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


def _brought_within_reach(last: str) -> int:
    """How often a candidate is run that clamps there."""
    text, runs = CLAMPED.replace("LAST", last), 0
    task = Task.make(task_part(text), "Model", Origin("local", "tests", "", "clamped.py"))

    def run(changed: str, chosen: object) -> Answer:
        nonlocal runs
        runs += 1
        raise JobError("timeout", "not run here")

    expected = expect(task.source, "Model", Options(targets=()))
    within.look(Candidate.make(task, text, "triton", "test"), expected, run, Findings())
    return runs


def test_a_number_that_the_reference_itself_comes_to_is_left_alone() -> None:
    assert _brought_within_reach("699") == 0
    assert _brought_within_reach("698") > 0
