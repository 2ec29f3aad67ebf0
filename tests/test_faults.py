"""Tasks that cannot be run at all: each is told in one line what is wrong with it."""

from __future__ import annotations

import pytest

from kdata.task import TaskError
from kdata.verify import reasons
from kdata.verify.exchange.telling import line
from kdata.verify.reference.faults import TaskFaultError, answered, demand_runnable
from kdata.verify.reference.probe import Prober

TASK = """import torch
{before}


class Model(torch.nn.Module):
    def forward(self, x):
        {forward}


def get_inputs():
    return [torch.rand({rows}, 3)]


def get_init_inputs():
    return []
"""


def text(before: str = "", forward: str = "return x + 1", rows: int = 2) -> str:
    return TASK.format(before=before, forward=forward, rows=rows)


@pytest.mark.parametrize(
    ("source", "entry_point", "detail"),
    [
        (text("raise OSError('no\\nfile')"), "Model", "its text raises OSError: no file"),
        (text(), "get_inputs", "get_inputs is no nn.Module class"),
        (text(forward="return x[5]"), "Model", "the reference raises IndexError"),
    ],
)
def test_a_faulty_task_is_told_in_one_line(source: str, entry_point: str, detail: str) -> None:
    prober = Prober(source, entry_point)
    found = answered(lambda: demand_runnable(prober, entry_point) or {})
    assert found["fault"][0] == reasons.BAD_TASK
    assert found["fault"][1].startswith(detail) and "\n" not in found["fault"][1]


def test_a_task_that_runs_has_no_fault() -> None:
    demand_runnable(Prober(text(), "Model"), "Model")


def test_a_task_too_large_to_try_is_not_run() -> None:
    demand_runnable(Prober(text(forward="return x[1 << 30]", rows=1 << 20), "Model"), "Model")


def test_faults_become_answers_and_other_errors_stay() -> None:
    def fails(error: Exception) -> dict[str, object]:
        raise error

    assert answered(lambda: {"mode": "train"}) == {"mode": "train"}
    assert answered(lambda: fails(TaskFaultError("random", "twice"))) == {"fault": ["random", "twice"]}
    assert answered(lambda: fails(TaskError("no class"))) == {"fault": [reasons.BAD_TASK, "no class"]}
    with pytest.raises(ZeroDivisionError):
        answered(lambda: fails(ZeroDivisionError()))


def test_lines_are_short() -> None:
    assert line(ValueError("a\n  b")) == "ValueError: a b"
    assert len(line(ValueError("a" * 1000))) == 300
