"""Modules that run in evaluation mode only become tasks without what they do in training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sources.cut.inferring import NOTE, inferring
from sources.probe import attempt

METHOD = "class Net:\n    def forward(self, x, target=None):\n"
RULED = [
    ("        if self.training:\n            return self.loss(x)\n        return x\n", "        return x\n"),
    ("        if self.training and target is None:\n            raise ValueError\n", "        pass\n"),
    ("        if not self.training:\n            x = x + 1\n            return x\n        else:\n            x = 2\n",
     "        x = x + 1\n        return x\n"),
    ("        if self.training:\n            y = 1\n        elif x:\n            y = 2\n        else:\n            y = 3\n",
     "        if x:\n            y = 2\n        else:\n            y = 3\n"),
    ("        if x:\n            y = 1\n        elif self.training:\n            y = 2\n        else:\n            y = 3\n",
     "        if x:\n            y = 1\n        else:\n            y = 3\n"),
    ("        n = 2 if self.training else 3\n", "        n = (3)\n"),
    ('        if not self.training:\n            s = """\n            kept"""\n', '        s = """\n            kept"""\n'),
    ("        return dropout(x, 0.5, self.training)\n", "        return dropout(x, 0.5, self.training)\n"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "left"), RULED)
def test_branches_of_training_are_left_out(body: str, left: str) -> None:
    assert inferring(METHOD + body) == METHOD + left


DETECTOR = """import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.head = nn.Linear(dim, 4)

    def forward(self, x, targets=None):
        out = self.head(x)
        if self.training:
            if targets is None:
                raise ValueError("targets are to be given in training")
            return sum(t["boxes"].sum() + o.sum() for t, o in zip(targets, out))
        return out.sigmoid()
"""


def test_a_detector_that_asks_for_targets_in_training_is_a_task(tmp_path: Path) -> None:
    cut: dict[str, Any] = {
        "name": "Net", "source": DETECTOR, "told": {"sites": [], "defaults": {}, "users": []}, "lacks": [], "header": []
    }  # fmt: skip
    (done,) = attempt({"cuts": [cut], "operators": 60, "enough": 1}, tmp_path)
    assert done["reason"] == "", done
    assert NOTE in done["source"]
    assert "targets are to be given" not in done["source"]
