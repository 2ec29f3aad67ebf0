"""What a process does without: torch's compiler, and memory beyond what one call may take."""

from __future__ import annotations

import ast
import copy
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from sources.infer.inputs import Tensor
from sources.infer.running import progress
from sources.infer.running.calls import call
from sources.infer.running.check import all_finite
from sources.infer.running.memory import bounded
from sources.infer.running.progress import Budget, TooMuchError, constructing
from sources.isolation import isolated
from sources.mine import ALLOCATOR

UNCOMPILED = """
import sys
import torch
from sources import probe

probe.warm()
net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Upsample(scale_factor=2)).to("meta")
net(torch.ones(2, 3, 8, 8, device="meta")).softmax(-1)
torch.optim.SGD([torch.ones(1, requires_grad=True)], 0.1).zero_grad()
print("torch._dynamo" in sys.modules)
"""


def test_the_compiler_is_not_imported_by_what_is_not_compiled() -> None:
    done = subprocess.run([sys.executable, "-c", UNCOMPILED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


class Large(torch.nn.Module):
    """Weights that are never written take no memory, and what is made of them does."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(1 << 27), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + (self.weight[: 1 << int(x.shape[0])] * 2 + 1)[:1]


def _calls(rows: int) -> dict[str, Any]:
    _, _, error = call(Large(), (Tensor((rows, 1)),), Budget())
    return {"reason": type(error).__name__ if error else ""}


def test_a_call_may_not_take_more_memory_than_a_worker_has_though_addresses_are_left() -> None:
    few, many = (isolated(lambda rows=rows: _calls(rows), 20, 1 << 31) for rows in (4, 26))  # type: ignore[misc]
    assert few == {"reason": ""}
    assert many == {"reason": TooMuchError.__name__}


def test_a_constructor_may_not_take_it_in_small_parts_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "full", lambda: True)
    layer = torch.nn.Linear(300, 300)
    with constructing(Budget()):
        made = [copy.deepcopy(layer) for _ in range(3)]
        with pytest.raises(TooMuchError, match="can't allocate memory"):
            made.extend(copy.deepcopy(layer) for _ in range(60))
    assert len(made) < 63


RUNS = """
import resource, sys
from pathlib import Path
from sources import probe
from sources.infer.running.memory import RESIDENT
from sources.isolation import isolated

SCRIPT = '''
import torch

def main():
    torch.ones(150_000_000)
'''
probe.warm()

def job():
    seen = probe.watch({"name": "main", "source": SCRIPT, "wanted": "Net"}, Path(sys.argv[1]))
    return seen | {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / RESIDENT}

print(isolated(job, 20, probe.MEMORY))
"""


def test_a_script_may_not_take_it_at_once_either(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", RUNS, tmp_path], capture_output=True, text=True, check=True)
    answer = ast.literal_eval(done.stdout)
    assert answer["detail"] == TooMuchError.__name__
    assert answer["peak"] < 1


GIVEN_BACK = """
import resource
import torch
from sources import probe
from sources.infer.running.memory import RESIDENT, bounded, release
from sources.isolation import isolated

probe.warm()

def job():
    large = torch.ones(50_000_000)
    after = torch.ones(1 << 20)  # the heap ends here
    del large
    release()
    taken = [after]
    try:
        with bounded():
            while True:
                taken.append(torch.ones(1 << 21))
    except (RuntimeError, MemoryError):
        return {"reason": "", "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / RESIDENT}

print(isolated(job, 20, probe.MEMORY))
"""


def test_what_was_given_back_is_not_taken_again_beside_what_a_call_may_take() -> None:
    command = [sys.executable, "-c", GIVEN_BACK]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | ALLOCATOR)
    assert 0.8 < ast.literal_eval(done.stdout)["peak"] < 1.15


def test_where_there_is_no_limit_none_is_set() -> None:
    with bounded(1):
        assert torch.ones(1 << 20).sum() == 1 << 20


@pytest.mark.parametrize("odd", [math.inf, -math.inf, math.nan])
def test_one_number_that_is_not_finite_is_told_without_memory_for_as_many(odd: float) -> None:
    large = torch.ones(3, 5)
    assert all_finite([large, torch.empty(0), large.to(torch.complex64).conj(), large.bool()])
    for kind in (torch.float32, torch.float16, torch.complex64):
        other = large.to(kind)
        other[2, 1] = odd
        assert not all_finite([large, other])


OTHERS = """
import resource
import sys
import numpy as np
from sources import probe
from sources.isolation import MOST, isolated

probe.warm()

def job():
    taken = []
    try:
        while True:
            taken.append(np.ones(1 << 20) if sys.argv[1] == "numpy" else [float(n) for n in range(1 << 16)])
    except MemoryError:
        return {"reason": "", "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MOST}

print(isolated(job, 20, probe.MEMORY))
"""


@pytest.mark.parametrize("whose", ["numpy", "lists"])
def test_what_is_no_tensor_is_bounded_as_well(whose: str) -> None:
    command = [sys.executable, "-c", OTHERS, whose]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | ALLOCATOR)
    assert 0.9 < ast.literal_eval(done.stdout)["peak"] < 1.1
