"""Numbers from which on a candidate may do something else, and sizes beyond them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from kdata.record import Candidate, Origin, Task
from kdata.verify.beyond import beyond
from kdata.verify.beyond.thresholds import branches, counted_loops, exactly, reduces_at_once, thresholds
from kdata.verify.candidate.source import task_part
from kdata.verify.constants import whole
from kdata.verify.judge import judge
from kdata.verify.options import Options

KERNEL = """
@triton.jit
def f(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
"""


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("if x.numel() > 1 << 20: pass", (1 << 20,)),
        ("if x.numel() > 10**6 + 5: pass", (10**6, 10**6 + 5)),
        ("y = x if x.shape[0] < 5e3 else None", (5000,)),
        ("most = 3000\n    if x.numel() > most: pass", (3000,)),
        ("f[(1,)](x, y, n, BLOCK=1024)", ()),  # a block
        ("y = x.numel() // 1000000", (1000000,)),
        ("if x.numel() > 1 << 40: pass", ()),  # no task is as large
        ("y = x * (1.0 - min(1, int(x.numel() * 1e-7)))", (10**7,)),
        ("y = x * 1e-12 + x * 0.125", ()),
        ("if x.numel() > 9 ** 9 ** 9: pass", (9**9,)),
    ],
)
def test_numbers_of_tests_and_large_ones_are_found(said: str, found: tuple[int, ...]) -> None:
    assert thresholds(f"{KERNEL}\ndef run(x, y, n):\n    {said}\n") == found


def test_a_name_that_is_given_a_number_elsewhere_is_followed() -> None:
    assert thresholds("MOST: int = 700\ndef run(x):\n    return f(x, limit=900) if x.numel() < MOST else x\n") == (700,)
    assert thresholds("def run(self, x):\n    if x.numel() < self.most: g(most=800)\n") == (800,)


def test_defaults_of_parameters_are_followed() -> None:
    text = "def f(x, block=4096, *, limit=3000):\n    if x.numel() > limit: return block\n"
    assert thresholds(text) == (3000,)


def test_names_that_are_bound_together_are_followed() -> None:
    assert thresholds("FEW, MOST = 600, 700\ndef run(x):\n    return f(x) if x.numel() < MOST else x\n") == (700,)
    assert thresholds("(a, [b, c]) = 600, (700, 800)\ndef run(x):\n    return x if x.numel() < c else f(x)\n") == (800,)
    assert thresholds("def run(x):\n    m, n = x.shape\n    return f(x) if n * m > 600 else x\n") == (600,)
    assert thresholds("LIMITS = {'few': 600, 'most': 1 << 11}\ndef run(x):\n    if x.numel() < LIMITS['few']: f(x)\n") == (
        600, 2048,
    )  # fmt: skip
    assert thresholds("def run(x):\n    if (most := 900) < x.numel(): f(x)\n") == (900,)


def test_what_calls_kernels_branches() -> None:
    assert not branches(f"{KERNEL}\ndef run(x):\n    f[(1,)](x, x, 1, BLOCK=16)\n")
    assert branches(f"{KERNEL}\ndef run(x):\n    return x if x.numel() else None\n")
    assert branches(f"{KERNEL}\ndef run(x):\n    return [x, x][x.numel() >> 20]\n")


def test_kernels_that_reduce_without_a_loop() -> None:
    once = KERNEL.replace("tl.load(x_ptr + i, mask=i < n)", "tl.sum(tl.load(x_ptr + i, mask=i < n))")
    assert reduces_at_once(once) == {"f"}
    assert not reduces_at_once(KERNEL)
    assert not reduces_at_once(once.replace("    tl.store", "    for _ in range(2):\n        pass\n    tl.store"))


def test_expressions_that_are_no_whole_number_come_to_nothing() -> None:
    for text in ("x", "1 // 0", "0.5", "1 / 2", "1 << -1", "'a'", "2 ** -1"):
        assert whole(ast.parse(text, mode="eval").body) is None, text


def test_a_reference_that_ends_beyond_leaves_a_word() -> None:
    text = (Path(__file__).parent / "kernels" / "good_other_kernel_beyond_a_named_size.py").read_text()
    dying = "def forward(self, x):\n        if x.numel() > 1 << 19:\n            os._exit(3)\n"
    source = "import os\n" + task_part(text).replace("def forward(self, x):\n", dying, 1)
    task = Task.make(source, "Model", Origin("local", "tests", "", "dying.py"))
    receipt = judge(task, Candidate.make(task, text, "triton", "test"), Options(targets=()))
    assert receipt.verdict == "verified", receipt.detail
    [check] = [check for check in receipt.checks if check.name == beyond.CHECK]
    assert not check.passed
    assert check.detail.startswith("not seen: the reference's process ended with crash")


def test_loops_that_a_constant_counts() -> None:
    text = """
import triton
import triton.language as tl

@triton.jit
def kernel(x, n, BLOCK: tl.constexpr, COUNT: tl.constexpr):
    for i in range(COUNT):
        tl.store(x + i * BLOCK, 0.0)
    for i in range(0, n, BLOCK):
        tl.store(x + i, 0.0)

@triton.jit
def other(x, n, BLOCK: tl.constexpr):
    for i in tl.range(0, n, BLOCK):
        tl.store(x + i, 0.0)
"""
    assert counted_loops(text) == {"kernel": {"COUNT"}}


def test_sizes_that_are_asked_for_by_themselves() -> None:
    text = """
TABLE = {768: 1, 3072: 2}
ODD, FOLD = 77, 96
def f(n, k):
    return TABLE.get(n, 0) if n == ODD or n in (11, 5) else k % FOLD == 0 or k % 49
"""
    assert exactly(text) == ((11, 77, 768, 3072), (96,))
