"""Which candidates are called in other ways at screen level: those whose text could tell the difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdata.verify.candidate.source import asks_how

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
