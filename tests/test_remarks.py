"""What receipts remark on is true: of loads, sizes, atomics that nothing interprets, and weights without memory."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kdata.verify.beyond import whole
from kdata.verify.evidence.findings import Findings, RejectedError
from kdata.verify.reference import breadth

LOADS = """
import torch, triton, triton.language as tl
from kdata.verify.interpreter import interpreter, unloaded
interpreter.mend()

@triton.jit
def kernel(x, y, n, OTHER: tl.constexpr):
    at = tl.program_id(0)
    value = tl.load(x + at, mask=at < n, other=0.0) if OTHER else tl.load(x + at, mask=at < n)
    tl.store(y + at, value)

x, y = torch.ones(4), torch.empty(4)
interpreter.give([(t.data_ptr(), t.data_ptr() + 16) for t in (x, y)])
for other in (True, False):
    kernel[(4,)](x, y, 2, other)
    print(unloaded.met(), y.tolist())
"""
WEIGHTS = """
import torch
from kdata.verify.interpreter import pretence
pretence.install(lambda: False)
with pretence.presented(), pretence.unfilled(), pretence.left_blank():
    made = torch.rand(4) + 0.5
    print(made.device, made.is_cuda, tuple(made.shape))
"""


def printed(text: str) -> list[str]:
    """What a text prints where kernels are interpreted."""
    place = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", text], env=place, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr[-2000:]
    return done.stdout.splitlines()


def test_another_value_of_zero_is_a_value(tmp_path: Any) -> None:
    script = tmp_path / "loads.py"  # kernels are read from files
    script.write_text(LOADS)
    found = printed(f"import runpy; runpy.run_path({str(script)!r}, run_name='loads')")
    assert found == ["False [1.0, 1.0, 0.0, 0.0]", "True [1.0, 1.0, 0.0, 0.0]"]


def test_weights_without_memory_are_made_by_more_than_one_operator() -> None:
    assert printed(WEIGHTS) == ["cuda:0 True (4,)"]


@pytest.mark.parametrize(
    ("kinds", "said"), [(["whole", "beyond"], whole.CHECK), (["grown"], whole.BEYOND), (["beyond"], whole.BEYOND)]
)
def test_what_did_not_run_at_its_own_sizes_says_nothing_of_them(kinds: list[str], said: str) -> None:
    expected = SimpleNamespace(
        variants=[{"kind": k} for k in kinds], trials=[{"variant": n} for n in range(len(kinds))]
    )
    assert whole._said_of(cast("Any", expected), range(len(kinds))) == said


def test_what_the_interpreter_lacks_is_not_seen() -> None:
    lacking = SimpleNamespace(detail="InterpreterError: ValueError('Unsupported data type')")
    assert breadth._of((cast("Any", lacking), "raises")) == breadth.NO_ATOMICS
    assert breadth._of((cast("Any", SimpleNamespace(detail="x")), "raises")) == "raises: x"


def test_trials_after_one_that_loses_its_device_are_run_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[int]] = []

    def judged(wider: Any, numbers: range, run: Any) -> list[SimpleNamespace]:
        asked.append([*numbers])
        lost = numbers[0] <= 1  # the second one reaches astray, and with it all that comes after
        said = {n: "CUDA error: an illegal memory access was encountered" if lost and n >= 1 else "" for n in numbers}
        return [SimpleNamespace(number=n, trial=SimpleNamespace(detail=detail)) for n, detail in said.items()]

    monkeypatch.setattr(breadth, "_judged", judged)
    wider: Any = SimpleNamespace(trials=[{}] * 4)
    found: Any = breadth._reports(wider, cast("Any", None))
    assert asked == [[0, 1, 2, 3], [2, 3]]
    assert [(j.number, bool(j.trial.detail)) for j in found] == [(0, False), (1, True), (2, False), (3, False)]


@pytest.mark.parametrize(
    ("line", "waits"),
    [("while tl.load(x) == 0:\n        pass", True), ("tl.atomic_cas(x, 0, 1)", True),
     ("tl.load(x, volatile=True)", True), ("tl.atomic_add(x, 1)", False), ("for _ in range(3):\n        pass", False)],
)  # fmt: skip
def test_kernels_that_may_wait_for_others_keep_their_order(line: str, waits: bool) -> None:
    text = f"import triton, triton.language as tl\n\n@triton.jit\ndef kernel(x):\n    {line}\n"
    assert whole.may_wait(text) is waits


def test_where_a_table_is_kept_what_few_programs_made_is_not_held_against_a_later_call() -> None:
    expected = SimpleNamespace(variants=[{"kind": "beyond", "sizes": ""}], trials=[{"variant": 0}])
    found = Findings()
    whole._note(cast("Any", expected), 0, None, found)
    whole._note(cast("Any", expected), 0, "", found)
    assert [(c.name, c.passed) for c in found.checks] == [(whole.BEYOND, False), (whole.BEYOND, True)]
    with pytest.raises(RejectedError):
        whole._note(cast("Any", expected), 0, "output: error 1", found)
