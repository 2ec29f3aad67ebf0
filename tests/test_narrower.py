"""Networks whose own text says that they are wider than a task may be, and ones that take sounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sources import probe
from sources.infer.rewritten.drawn import drawn
from sources.infer.running.check import TOO_LARGE
from sources.infer.search import PARAMETERS
from sources.other_cuts import other_cuts
from sources.text.narrower import NOTE, narrower
from tests.attempts import HEAD, attempted

WIDE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 1024, 3, padding=1)
        self.wide = nn.Conv2d(1024, 8192, 3, padding=1)
        self.last = nn.Linear(8192, 10)

    def forward(self, x):
        x = torch.relu(self.wide(torch.relu(self.first(x)))).mean([2, 3])
        return self.last(x.view(-1, 8192))
"""
SOUND = """
class Net(nn.Module):
    def __init__(self, sample_rate, window_size, hop_size, fmin, fmax):
        super().__init__()
        if not 0 <= fmin < fmax <= sample_rate / 2 or window_size < hop_size:
            raise ValueError("no band")
        self.frames = nn.Conv1d(1, 16, window_size, hop_size, padding=window_size // 2)
        self.layers = nn.ModuleList([nn.Conv1d(16, 16, 3, padding=1) for _ in range(5)])

    def forward(self, wave):
        x = torch.log1p(self.frames(wave[:, None]) ** 2)
        for layer in self.layers:
            x = F.avg_pool1d(torch.relu(layer(x)), 2)
        if self.training:
            start = torch.randint(0, x.shape[-1] - 1, (1,))
            x[:, :, start : start + 1] = 0
        return x
"""


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


def test_a_network_of_fixed_widths_is_halved_as_a_whole() -> None:
    told: dict[str, Any] = {"sites": [], "defaults": {}, "users": []}
    cut = {"name": "Net", "source": HEAD + WIDE, "told": told, "header": []}
    found = [c for c, _ in other_cuts(cut, {"reason": TOO_LARGE, "detail": PARAMETERS, "solved": None})]
    assert [c["header"] for c in found] == [[NOTE]] * 2
    assert "nn.Conv2d(512, 4096, 3, padding=1)" in found[0]["source"]
    assert "view(-1, 4096)" in found[0]["source"]
    assert "nn.Linear(2048, 10)" in found[1]["source"]
    assert not [*other_cuts(cut, {"reason": TOO_LARGE, "detail": "conv2d", "solved": True})]


def test_windows_colours_and_what_is_no_number_stay() -> None:
    text = "x = nn.Conv2d(3, 64, 7)\ny = '256'\nz = 100\n"
    assert narrower(text) == text.replace("64", "32")
    assert narrower("x = 3") == "x = 3"


def test_a_sound_is_as_long_as_its_spectrum_asks_for(tmp_path: Path) -> None:
    assert attempted(SOUND, tmp_path)["reason"] == ""


def test_what_is_made_of_its_own_values_is_not_drawn() -> None:
    text = HEAD + "class Net:\n    def __init__(self, n):\n        self.basis = np.eye(n)\n" \
        "        self.basis = nn.Parameter(torch.Tensor(self.basis))\n" \
        "        self.other = nn.Parameter(torch.Tensor(np.ones(n)))\n        self.unset = nn.Parameter(torch.Tensor(n))\n"  # fmt: skip
    assert drawn(text) == text.replace("torch.Tensor(n)", "0.1 * torch.randn(n)")
