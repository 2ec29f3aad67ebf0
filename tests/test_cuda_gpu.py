"""Compiled candidates on a GPU: receipts, KernelBench's rule, and a model's answers; verdicts are ``test_gpu``'s."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kdata.record import Receipt
from kdata.verify import reasons
from kdata.verify.candidate.source import task_part
from kdata.verify.cuda import candidate as cuda
from kdata.verify.gpu.cards import cards
from kdata.verify.judge import judge_files
from kdata.verify.options import Options
from kdata.verify.step import rule
from sft.answers import Answer, Request
from sft.chat import prompt
from sft.eval_options import EvalOptions
from sft.evaluate import evaluate
from sft.suites import read_suite

pytestmark = pytest.mark.gpu
GPU = Path(__file__).parent / "kernels" / "gpu"
UNTIMED = Options(device="cuda", targets=(), timed=False)


def judged(name: str, options: Options = UNTIMED) -> Receipt:
    file = GPU / f"{name}.py"
    return judge_files(file, file, options, rule(options.level))


@pytest.mark.parametrize(("name", "follows"), [("good_cuda_affine", False), ("good_cuda_rms_norm", True)])
def test_a_receipt_says_what_compiled_it_and_what_cannot_be_seen(name: str, follows: bool) -> None:
    receipt = judged(name)
    assert receipt.verdict == "verified", receipt.detail
    kernel = name.removeprefix("good_cuda_") + "_kernel"
    assert set(receipt.launches) == {kernel}
    assert receipt.level == "compiled"
    assert "CUDA C++" in receipt.versions
    assert any(version.startswith("nvcc ") for version in receipt.versions)
    assert {b.target for b in receipt.builds} == {f"sm_{cards()[0].capability()}"}
    assert kernel in {b.kernel for b in receipt.builds}
    assert all(b.registers and b.spills == 0 for b in receipt.builds)
    checks = {check.name: check for check in receipt.checks}
    assert checks[cuda.STREAM].passed == follows
    assert not checks[cuda.ACCESSES].passed
    assert cuda.NATIVE in checks[cuda.ACCESSES].detail


def test_kernelbenchs_rule_takes_them() -> None:
    for name, said in (("good_cuda_affine", "verified"), ("cheat_cuda_cublas", "verified"),
                       ("cheat_cuda_half_precision", "rejected"), ("cheat_cuda_does_not_compile", "rejected")):  # fmt: skip
        receipt = judged(name, Options(device="cuda", targets=(), timed=False, level="kernelbench"))
        assert (receipt.verdict, receipt.effort) == (said, "kernelbench"), receipt.detail
        compiled = {check.name: check.passed for check in receipt.checks}["compiled"]
        assert compiled == (name != "cheat_cuda_does_not_compile")


def test_answers_of_a_model_are_judged_and_counted(tmp_path: Path) -> None:
    folder = tmp_path / "suite" / "level1"
    folder.mkdir(parents=True)
    (folder / "1_Affine.py").write_text(task_part((GPU / "good_cuda_affine.py").read_text()))
    (problem,) = read_suite("kernelbench", str(tmp_path / "suite")).problems
    lines = []
    for seed, name in enumerate(("good_cuda_affine", "cheat_cuda_kernel_unused", "cheat_cuda_does_not_compile")):
        request = Request(tuple(prompt(problem.task, "cuda")), seed)
        text = f"Compiled by load_inline:\n```python\n{(GPU / f'{name}.py').read_text()}```\n"
        lines.append(json.dumps(asdict(Answer(request.id, "far", seed, text, "stop"))) + "\n")
    (tmp_path / "answers.jsonl").write_text("".join(lines))
    options = EvalOptions(model=str(tmp_path / "answers.jsonl"), path=str(tmp_path / "suite"), out=str(tmp_path / "out"),
                          samples=3, language="cuda", device="cuda", timed=False)  # fmt: skip
    evaluate(options)
    rows = pq.read_table(tmp_path / "out" / "answers.parquet").to_pylist()
    failures = {row["seed"]: row["failure"] for row in rows}
    assert failures[0] == ""
    assert failures[1] == reasons.ATEN
    assert failures[2].startswith(reasons.NO_COMPILE)
    assert [row["upstream"]["correct"] for row in sorted(rows, key=lambda r: r["seed"])] == [True, True, False]
