"""What fails at the top of a text is absent for those that do not use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sources import probe
from sources.text.failing import NOTE, without_failing
from tests.attempts import attempted

FAILS = """class Talking:
    def __init__(self):
        raise NotImplementedError("no terminal")


talk = Talking()
logger = Talking()
WIDTH = 3 + talk.width


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.line = nn.Linear(width, width)
        logger.info("made")

    def forward(self, x):
        return self.line(x).relu()
"""


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


def test_what_cannot_be_made_is_absent_with_what_is_made_of_it() -> None:
    text = without_failing(FAILS, 6)
    assert "talk = None\n" in text
    assert "WIDTH = None\n" in text
    assert "logger = Talking()" in text
    assert "from logging import getLogger\n\nlogger = getLogger()" in without_failing(text, 7)
    assert without_failing(FAILS, 2) == FAILS
    made = "class A:\n    x = B.y\n\n\n@kept\nclass C:\n    z: A\n    w: int = A.x\n\n\nclass D:\n    z: A\n"
    assert without_failing(f"{made}e = C()\n", 1) == "A = None\n\n\nC = None\n\n\nclass D:\n    z: A\ne = None\n"
    assert without_failing("a, b = read()\nc = a + 1\n", 1) == "a, b = (None,) * 2\nc = None\n"


def test_a_class_that_only_talks_to_it_becomes_a_task(tmp_path: Path) -> None:
    outcome = attempted(FAILS.replace("talk = Talking()\n", "").replace("WIDTH = 3 + talk.width\n", ""), tmp_path)
    assert outcome["reason"] == "", outcome["detail"]


def test_weights_of_double_precision_are_of_single(tmp_path: Path) -> None:
    text = """class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bands = nn.Parameter(torch.tensor(list(np.linspace(0.5, 2.0, width))), requires_grad=False)
        self.line = nn.Linear(width, width)

    def forward(self, x):
        return self.line(x * self.bands)
"""
    outcome = attempted(text, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
    assert "        self.float()\n" in outcome["source"]


def test_tensors_of_numpys_numbers_are_of_single_precision(tmp_path: Path) -> None:
    text = """class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.line = nn.Linear(width, width)

    def weights(self, lengths, most):
        found = [[] for _ in lengths]
        for n, length in enumerate(lengths.numpy()):
            found[n] = [1 - i / (1 + abs(length)) for i in range(most)]
        return torch.tensor(found).unsqueeze(2)

    def forward(self, x):
        return self.line(x * self.weights(x.sum((1, 2)).double().detach(), x.shape[1]))
"""
    outcome = attempted(text, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
    assert "torch.tensor(found, dtype=torch.float32)" in outcome["source"]


def test_what_fails_after_what_failed_first_is_absent_too(tmp_path: Path) -> None:
    text = FAILS.replace("talk = Talking()\nlogger = Talking()\n", "class One:\n    x = Talking()\n\n\n"
                         "class Two:\n    x = missing\n\n\n").replace("WIDTH = 3 + talk.width\n", "")  # fmt: skip
    outcome = attempted(text.replace('        logger.info("made")\n', ""), tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
    assert outcome["source"].count(f"# {NOTE}\n") == 1
