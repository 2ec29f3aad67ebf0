"""Which candidates are called in other ways at screen level: those whose text could tell the difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdata.verify.candidate.source import asks_how
from kdata.verify.judge import judge_files
from kdata.verify.options import Options

KERNELS = Path(__file__).parent / "kernels"
WAYS = ("evaluation_mode", "with_gradients", "inference_mode")


@pytest.mark.parametrize("file", [f for f in sorted(KERNELS.glob("cheat_*.py")) if f.stem.endswith(WAYS)])
def test_cheats_by_the_way_of_the_call_are_seen(file: Path) -> None:
    assert asks_how(file.read_text())


@pytest.mark.parametrize(
    "asking",
    [
        "self.training",
        "x.is_leaf",
        "torch.is_grad_enabled()",
        "x._version",
        "vars(self)",
        'len(f"{x}") > 40',
        "suppress(RuntimeError)",
    ],
)
def test_words_that_could_tell_are_seen(asking: str) -> None:
    text = "class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    assert not asks_how(text)
    assert asks_how(f"{text}    def forward(self, x):\n        return x if {asking} else -x\n")


@pytest.mark.parametrize(("scale", "hears"), [("2", False), ("2 if self.training else 1", True)])
def test_a_receipt_tells_of_who_does_not_hear_of_evaluation(tmp_path: Path, scale: str, hears: bool) -> None:
    file = tmp_path / "pair.py"
    file.write_text(
        "import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n\n\n"
        "class Model(nn.Module):\n    def forward(self, x):\n        return x * 2 if self.training else x * 1\n\n\n"
        "def get_inputs():\n    return [torch.randn(8, 16)]\n\n\ndef get_init_inputs():\n    return []\n\n\n"
        "@triton.jit\ndef times_kernel(x_ptr, y_ptr, count, scale, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < count) * scale, mask=i < count)\n\n\n"
        "class ModelNew(nn.Module):\n    def forward(self, x):\n        x = x.contiguous()\n"
        "        y = torch.empty_like(x)\n        grid = (triton.cdiv(x.numel(), 64),)\n"
        f"        times_kernel[grid](x, y, x.numel(), {scale}, BLOCK=64)\n        return y\n"
    )
    receipt = judge_files(file, file, Options(level="trust", targets=()))
    assert receipt.verdict == "verified"
    (told,) = [check for check in receipt.checks if check.name.startswith("answers in evaluation mode")]
    assert told.passed == hears
