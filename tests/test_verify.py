"""The judge against kernels that are honest and kernels that cheat, and against bad input."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import kdata.verify.judge
from filters.correctness import check
from kdata.record import Candidate, Dropped, Origin, Pair, Receipt, Task, records
from kdata.verify import reasons
from kdata.verify.candidate.source import object_to, task_part
from kdata.verify.compiling import targets
from kdata.verify.judge import judge_files
from kdata.verify.options import Concession, Options
from kdata.verify.reference.scaled import down
from kdata.verify.reference.styles import DETAILS
from kdata.verify.step import rule, step
from kdata.verify.tolerances import tolerance

KERNELS = Path(__file__).parent / "kernels"
QUICK, PLAIN = Options(timeout=20.0), Concession()


def test_receipt_is_complete_and_the_same_each_time() -> None:
    file = KERNELS / "good_layer_norm.py"
    receipt = judge_files(file, file)
    assert receipt == judge_files(file, file)
    assert receipt.launches == ("layer_norm_kernel",)
    assert len({t.sizes for t in receipt.trials}) == 4  # its own, odd ones, a batch of one, twice its own
    assert len({t.seed for t in receipt.trials}) == 3  # two draws, and one of inputs out of the ordinary
    assert {t.detail for t in receipt.trials if t.seed != receipt.trials[0].seed} >= {DETAILS["wide"]}
    assert {b.target for b in receipt.builds} == {"sm_90", "gfx942"}
    assert all(b.registers and b.spills == 0 and b.shared is not None for b in receipt.builds)
    assert all(t.atol > 0 and t.rmse <= t.max_abs <= t.atol * 10 for t in receipt.trials)
    assert all(c.passed for c in receipt.checks)
    assert "rlimits" in receipt.isolation


def test_variants_have_odd_sizes_and_a_batch_of_one() -> None:
    file = KERNELS / "good_conv2d.py"
    receipt = judge_files(file, file, Options(targets=(), variants=4))
    shapes = [t.shapes for t in receipt.trials]
    assert any("[1, " in s for s in shapes)
    assert any("141" in s or "61" in s or "37" in s for s in shapes)
    assert "in_channels" not in receipt.trials[0].sizes  # small parameters keep their values in the base variant


def test_trust_draws_more_and_from_the_candidate() -> None:
    file = KERNELS / "good_variance.py"
    screen, trust = (judge_files(file, file, Options(targets=(), level=level)) for level in ("screen", "trust"))
    assert (screen.effort, trust.effort, trust.verdict) == ("screen", "trust", "verified")
    seeds = {t.seed for t in trust.trials}
    assert len(seeds) >= 8
    assert not seeds & {t.seed for t in screen.trials}
    assert DETAILS["offset"] in {t.detail for t in trust.trials}


def test_parameters_that_do_not_matter_are_named(tmp_path: Path) -> None:
    text = (KERNELS / "good_scale.py").read_text()
    text = text.replace("super().__init__()", "super().__init__()\n        self.spare = nn.Parameter(torch.ones(3))")
    file = tmp_path / "spare.py"
    file.write_text(text)
    receipt = judge_files(file, file, Options(targets=()))
    assert receipt.verdict == "verified"
    assert [c.detail for c in receipt.checks if c.name == "every parameter matters" and not c.passed] == ["spare"]


def test_random_modules_run_in_eval_mode() -> None:
    file = KERNELS / "good_dropout_eval.py"
    assert judge_files(file, file, Options(targets=())).mode == "eval"


TASK = "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return {}\n"
INPUTS = "def get_inputs():\n    return [torch.rand(4, 4)]\ndef get_init_inputs():\n    return []\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def f(:", "not Python"),
        (TASK.format("x"), "get_inputs"),
        ("def get_inputs():\n    return []\n", "no class"),
        (TASK.format("x @ torch.rand(5, 5)") + INPUTS, "reference raises RuntimeError"),
        (TASK.format("x + torch.rand(4, 4)") + INPUTS, "differ"),
        ("import not_there\n" + TASK.format("x") + INPUTS, "ModuleNotFoundError"),
        (TASK.format("x.registered()") + INPUTS, "AttributeError"),
        ("import os\n" + TASK.format("os._exit(0)") + INPUTS, "no answer"),
        (TASK.format("iter(x)") + INPUTS, "no plain data"),
    ],
)
def test_bad_tasks_are_named(tmp_path: Path, text: str, words: str) -> None:
    task, kernel = tmp_path / "task.py", KERNELS / "good_relu.py"
    task.write_text(text)
    receipt = judge_files(task, kernel, Options(targets=(), timeout=10.0))
    assert receipt.verdict == "unverified"
    assert words in receipt.detail, receipt.detail


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f(:", reasons.NOT_PYTHON),
        ("\0", reasons.NOT_PYTHON),
        ("x = 1\n", reasons.NO_MODEL_NEW),
        ("import flash_attention_of_mars\nclass ModelNew: pass\n", reasons.ABSENT_PACKAGE),
        ("import subprocess\nclass ModelNew: pass\n", reasons.FORBIDDEN_IMPORT),
        ("from torch._inductor import config\nclass ModelNew: pass\n", reasons.FORBIDDEN_IMPORT),
        ("from torch import _inductor\nclass ModelNew: pass\n", reasons.FORBIDDEN_IMPORT),
        ("from torch.utils import cpp_extension\nclass ModelNew: pass\n", reasons.FORBIDDEN_IMPORT),
        ("class ModelNew:\n    def f(self):\n        from . import x\n", reasons.FORBIDDEN_IMPORT),
        ("x = 1\n" * 2_000_000, reasons.TOO_LONG),
    ],
)
def test_bad_candidates_are_named(text: str, reason: str) -> None:
    objection = object_to(text)
    assert objection is not None
    assert objection.reason == reason


def test_honest_imports_pass() -> None:
    imports = "import math\nfrom typing import Any\nimport torch.nn.functional as F\nimport triton.language as tl\n"
    assert object_to(imports + "class ModelNew: pass\n") is None


def test_imports_of_the_task_and_of_the_candidate_may_be_one_statement() -> None:
    text = (KERNELS / "good_relu.py").read_text()
    several = text.replace("import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl",
                           "import torch, torch.nn as nn, triton, triton.language as tl")  # fmt: skip
    assert several != text and task_part(several) == task_part(text)


def test_task_part_drops_the_candidate() -> None:
    text = task_part((KERNELS / "good_relu.py").read_text())
    assert "ModelNew" not in text
    assert "triton" not in text
    assert "class Model" in text
    assert "get_inputs" in text


def test_unknown_target_is_named() -> None:
    with pytest.raises(ValueError, match="known are sm_75"):
        targets.parse("sm_1")
    receipt = judge_files(KERNELS / "good_relu.py", KERNELS / "good_relu.py", Options(targets=("sm_1",)))
    assert (receipt.verdict, receipt.reason) == ("unverified", reasons.BAD_OPTION)


def test_step_keeps_the_verified_and_drops_the_others_with_their_receipts() -> None:
    origin = Origin("local", "tests", "", "good_relu.py")
    text = (KERNELS / "good_relu.py").read_text()
    task = Task.make(task_part(text), "Model", origin)
    cuda = Candidate.make(task, "__global__ void f() {}", "cuda", "test")
    good = Candidate.make(task, text, "triton", "test")
    stage = step(targets=(), seeds=1, variants=2)
    kept, dropped = stage.function([good, cuda])
    assert isinstance(kept, Pair)
    assert isinstance(dropped, Dropped)
    assert kept.receipt.verdict == "verified"
    assert dropped.pair is not None
    assert dropped.pair.receipt.verdict == "unverified"
    assert (dropped.reason, dropped.id) == (dropped.pair.receipt.reason, cuda.id)
    assert records([dataclasses.asdict(d) for d in (dropped,)], Dropped) == [dropped]
    assert stage.output(["a"]) == step(targets=(), seeds=1, variants=2).output(["a"]) != step(targets=()).output(["a"])


@pytest.mark.parametrize(
    ("name", "said", "ours"),
    [("good_relu", "verified", "verified"), ("cheat_no_kernel", "verified", "rejected"),
     ("cheat_half_precision", "rejected", "rejected")],
)  # fmt: skip
def test_kernelbenchs_rule_is_a_level_of_its_own(name: str, said: str, ours: str) -> None:
    file = KERNELS / f"{name}.py"
    receipt = judge_files(file, file, Options(targets=(), level="kernelbench"), rule("kernelbench"))
    assert (receipt.verdict, receipt.effort) == (said, "kernelbench")
    assert "rlimits" in receipt.isolation
    assert judge_files(file, file, QUICK, rule("screen")).verdict == ours
    if said == "verified":
        task = Task.make(task_part(file.read_text()), "Model", Origin("local", "tests", "", name))
        candidate = Candidate.make(task, file.read_text(), "triton", "file")
        assert check(Pair(candidate, receipt)) == "judged by KernelBench's rule only"


def test_what_takes_too_long_is_judged_at_smaller_sizes_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def judged(task: Task, candidate: Candidate, options: Options, conceded: Concession = PLAIN) -> Receipt:
        asked.append((options.timeout, conceded))
        late = conceded == PLAIN
        return Receipt(candidate.id, "unverified" if late else "verified", reasons.SLOW if late else "")

    monkeypatch.setattr(kdata.verify.judge, "_judged", judged)
    file = KERNELS / "good_affine.py"
    assert judge_files(file, file, QUICK).verdict == "verified"
    assert asked == [(QUICK.timeout, PLAIN), (QUICK.timeout / 2, Concession(thrift=kdata.verify.judge.THRIFT))]


def test_tolerances_grow_with_the_task_not_with_the_candidate() -> None:
    plain = tolerance("float32", 1.0, 1, False, 1e-7, 3e-7)
    assert plain.atol == 1e-5
    assert plain.rtol == 1.3e-6
    assert tolerance("float32", 1.0, 512, True, 1e-7, 3e-7).atol == pytest.approx(2e-5)
    ill = tolerance("float32", 1.0, 1, False, 1.0, 1.0)
    assert ill.atol == pytest.approx(1e-3)
    assert dataclasses.astuple(ill)[2] < 0.01
    worst = tolerance("float32", 1.0, 1, False, 1e-5, 2e-3)  # one element of many: eager itself is to pass
    assert worst.atol == pytest.approx(4e-3)
    assert worst.rmse < 1e-4
    assert tolerance("float16", 1.0, 1, False, 0.0, 0.0).atol == 1e-3


@pytest.mark.parametrize(
    ("value", "cap", "wanted"), [(4096, 64, 64), (224, 64, 56), (1000, 128, 125), (7, 64, 7), (333, 64, 64)]
)
def test_scaling_keeps_powers_of_two(value: int, cap: int, wanted: int) -> None:
    assert down(value, cap) == wanted
