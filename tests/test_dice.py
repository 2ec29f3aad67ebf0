"""Forwards that draw from Python's own generator, or numpy's: what that decides may be seen in few runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from sources import probe
from tests.attempts import attempted

NET = (
    "import random\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.layer = nn.Linear(16, 16)\n\n    def forward(self, x):\n        if {}:\n"
    "            x = x + 1\n        return self.layer(x).relu()\n"
)


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


@pytest.mark.parametrize("test", ["random.random() < 0.2", "np.random.randint(5) == 0"])
def test_what_dice_decide_seldom_is_not_deterministic(test: str, tmp_path: Path) -> None:
    assert attempted(NET.format(test), tmp_path)["reason"] == "nondeterministic"


def test_dice_that_decide_in_training_only_are_no_matter(tmp_path: Path) -> None:
    assert attempted(NET.format("random.random() < 0.2 and self.training"), tmp_path)["reason"] == ""
