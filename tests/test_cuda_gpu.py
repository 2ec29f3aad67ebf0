"""What receipts of compiled candidates say on a GPU, and KernelBench's rule for them; verdicts are ``test_gpu``'s."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdata.record import Receipt
from kdata.verify import cuda
from kdata.verify.gpu import cards
from kdata.verify.judge import judge_files
from kdata.verify.options import Options
from kdata.verify.step import rule

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
