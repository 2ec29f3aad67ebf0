"""Sizes that constructors say become their arguments, where nothing else of a candidate says them."""

from __future__ import annotations

import pytest

from kdata.record import Candidate, Origin, Task
from kdata.task import sizes
from kdata.verify.lifting import lifted

TASK = """import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4096, 4096)

    def forward(self, x):
        return self.fc(x)

def get_inputs():
    return [torch.randn(16, 4096)]

def get_init_inputs():
    return []
"""
KERNEL = """from torch import nn

BLOCK = 64

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4096, 4096)

    def forward(self, x):
        return linear(x, self.fc.weight, self.fc.bias)
"""


def candidate(kernel: str, task: str = TASK) -> Candidate:
    return Candidate.make(Task.make(task, "Model", Origin("local", "tests", "", "a.py")), kernel, "triton", "file")


def test_constructors_take_what_they_said() -> None:
    given = candidate(KERNEL)
    found = lifted(given)
    assert found is not None
    assert "nn.Linear(lifted_4096, lifted_4096)" in found.source
    assert "nn.Linear(lifted_4096, lifted_4096)" in found.task.source
    assert [s.name for s in sizes(found.task.source) if s.value == 4096] == ["get_inputs[1]", "get_init_inputs[0]"]
    assert (found.id, found.task.id) == (given.id, given.task.id)


@pytest.mark.parametrize(
    "kernel",
    [
        KERNEL.replace("BLOCK = 64", "BLOCK = 4096"),  # its kernel may rely on it
        KERNEL.replace("BLOCK = 64", "BLOCK = 64 * 64"),
        KERNEL.replace("linear(x,", "linear(x, 4096,"),
        KERNEL.replace("__init__(self)", "__init__(self, *sizes)"),
        KERNEL.replace("4096, 4096", "100, 100"),
    ],
)
def test_what_else_says_it_keeps_it(kernel: str) -> None:
    assert lifted(candidate(kernel)) is None


def test_a_task_that_gives_arguments_keeps_its_own() -> None:
    assert lifted(candidate(KERNEL, TASK.replace("return []", "return [1]"))) is None
