"""What mining does not do twice: construct a module, parse a program, ask for the memory that a tensor left."""

from __future__ import annotations

import ast
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from sources import probe
from sources.cut.inferring import inferring
from sources.infer.running.check import TOO_LARGE
from sources.infer.running.made import Made, answers_quietly, evaluated
from sources.infer.runs import Runs
from sources.infer.search import Solution, solve
from sources.mine import ALLOCATOR
from sources.watch import reach

TEXT = "class Net(nn.Module): ..."


class Net(nn.Module):
    made = 0

    def __init__(self, dim: int) -> None:
        super().__init__()
        Net.made += 1
        self.layer = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x).relu()


class Noisy(Net):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) + torch.rand_like(x)


def solved(kind: type[nn.Module]) -> Solution:
    solution = solve(kind, {"nn": nn}, TEXT)
    assert isinstance(solution, Solution)
    return solution


def test_a_module_that_a_search_constructed_is_not_constructed_again() -> None:
    solution = solved(Net)
    before = Net.made
    runs = Runs(Net, {"nn": nn}, 60, solution)
    assert runs(solution)
    assert Net.made == before
    assert solution.made is not None
    assert solution.made.module is None  # two are not to be in memory


def test_other_arguments_and_other_classes_are_constructed() -> None:
    solution = solved(Net)
    before = Net.made
    runs = Runs(Net, {"nn": nn}, 60, solution)
    runs(Solution({"dim": "3"}, solution.specs))
    assert Net.made == before + 1
    assert Made(Net, Net(4)).take(Noisy) is None


def test_what_draws_in_eval_mode_is_seen_and_the_mode_stays() -> None:
    quiet, noisy = solved(Net), solved(Noisy)
    assert answers_quietly(quiet.made, Net, quiet.specs)
    assert quiet.made is not None
    assert quiet.made.module is not None
    assert quiet.made.module.training
    assert evaluated(quiet.made, Noisy, quiet.specs) is None
    assert not answers_quietly(noisy.made, Noisy, noisy.specs)
    assert noisy.made is None or noisy.made.module is None  # others will be constructed


def test_a_program_is_not_parsed_once_more_for_each_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    branch = "        if self.training:\n            x = x + 1\n"
    rest = "".join(f"def f{i}(x):\n    return x + {i}\n\n\n" for i in range(400))
    net = "class {}:\n    def forward(self, x):\n" + "{}        return x  # kept\n"
    parsed, parse = list[int](), ast.parse

    def counted(text: Any, *more: Any, **named: Any) -> Any:
        parsed.append(len(text))
        return parse(text, *more, **named)

    monkeypatch.setattr(ast, "parse", counted)
    text = f"# above\n{net.format('A', 8 * branch)}\n\n{rest}{net.format('B', branch)}"
    assert inferring(text) == f"# above\n{net.format('A', '')}\n\n{rest}{net.format('B', '')}"
    assert sum(parsed) < 3 * len(text)


def test_a_large_module_is_copied_without_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    net = Net(8)
    assert not any(p.is_meta for p in reach._copied(net).parameters())
    monkeypatch.setattr(reach, "LARGE", 8)
    copied = reach._copied(net)
    assert all(p.is_meta for p in copied.parameters())
    assert copied.double().layer.weight.dtype == torch.float64
    assert not net.layer.weight.is_meta


@pytest.mark.parametrize("reason", [TOO_LARGE, "crash"])  # what has no memory left crashes, too
@pytest.mark.parametrize(("lighter", "checks"), [("same", 1), ("smaller", 2)])
def test_what_is_no_lighter_is_not_checked_again(
    lighter: str, checks: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def infer(cut: dict[str, Any], *_: object) -> dict[str, Any]:
        source = lighter if cut.get("lighter") else "same"
        return {"reason": "", "source": source, "name": "Net", "inputs": [], "small": {}, "solved": {}, "spare": {}}

    checked = list[str]()

    def check(source: str, *_: object) -> dict[str, Any]:
        checked.append(source)
        return {"reason": reason, "detail": ""}

    monkeypatch.setattr(probe, "infer", infer)
    monkeypatch.setattr(probe, "_checked", check)
    cut: dict[str, Any] = {"name": "Net", "source": "same", "told": {"users": []}, "lacks": []}
    assert probe._tried(cut, 60, tmp_path, None, lambda: True)["reason"] == reason
    assert len(checked) == checks


PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
LARGE_PAGES_SERVED = (
    PAGES.is_file() and "[never]" not in PAGES.read_text()
    and platform.libc_ver()[0] == "glibc" and [*map(int, platform.libc_ver()[1].split("."))] >= [2, 35]
)  # fmt: skip
LARGE_PAGES = ":glibc.malloc.hugetlb=1"  # of which a tensor takes few, old or new
TENSORS = """
import resource, torch
def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
kept = []
def fill(): torch.empty(1 << 20).fill_(1.0)
fill()
before = faults()
for _ in range(8): fill()
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the variables are glibc's")
def test_a_tensor_takes_the_memory_that_another_left() -> None:
    tunables = ALLOCATOR["GLIBC_TUNABLES"].removesuffix(LARGE_PAGES)
    assert faults(TENSORS, GLIBC_TUNABLES=tunables) < 1024  # the pages of one of them


@pytest.mark.skipif(not LARGE_PAGES_SERVED, reason="there are none, or glibc asks for none")
def test_new_memory_comes_in_large_pages() -> None:
    assert faults(TENSORS.replace("torch.empty(1 << 20).fill_(1.0)", "kept.append(torch.ones(1 << 20))")) < 1024


def faults(program: str, **environment: str) -> int:
    """The page faults that a program prints, which runs with the sandbox's allocator."""
    whole = {**os.environ, **ALLOCATOR, "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run([sys.executable, "-c", program], env=whole, capture_output=True, text=True, check=True)
    return int(done.stdout)
