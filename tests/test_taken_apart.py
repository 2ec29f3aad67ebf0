"""Inputs that are taken apart into variables, what ``**kwargs`` is asked for, layers of one channel, constants of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.infer.forward.variants import rescaled
from tests.attempts import attempted, cut_and_attempted
from tests.cuts import HEAD, cut

COMPARTMENTS = """
class Net(nn.Module):
    def forward(self, t, state):
        s, e, i, _ = state.unbind(-1)
        return torch.stack([-s * i, s * i - e, e - i, i], dim=-1)
"""
ASKED = """
class Net(nn.Module):
    def __init__(self, dim, kind="linear", **kwargs):
        super().__init__()
        if kind == "linear":
            if "max_freq" not in kwargs:
                raise ValueError("max_freq must be given for 'linear'")
            scales = torch.linspace(1.0, kwargs["max_freq"] / 2, dim)
        else:
            raise NotImplementedError(f"only 'linear' is there, and not {kind}")
        self.register_buffer("scales", scales)

    def forward(self, x):
        return x[..., None] * self.scales
"""
ANGLES = """
from einops import repeat


class Net(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.heads, self.turn = heads, nn.Linear(dim, dim)

    def forward(self, x, angles):
        sin, cos = map(lambda t: repeat(t, "b n d -> (b h) n d", h=self.heads), angles)
        x = repeat(self.turn(x), "b n d -> (b h) n d", h=self.heads)
        return x * cos + x.flip(-1) * sin
"""
ONE_CHANNEL = """
class Net(nn.Module):
    def __init__(self, window, width, kernels, w_kernel):
        super().__init__()
        self.window, self.width, self.w_kernel = window, width, w_kernel
        self.conv = nn.Conv2d(1, kernels, (window, w_kernel))

    def forward(self, x):
        return self.conv(x.view(-1, self.w_kernel, self.window, self.width))
"""
FILES = """
from pathlib import Path

TABLE = torch.load(str(Path(__file__).parent / "table.pt"))
COUNTS = np.load("counts.npy").sum()


class Net(nn.Module):
    def __init__(self, exact=False):
        super().__init__()
        self.exact = exact

    def forward(self, x):
        return x * TABLE if self.exact else x.exp()
"""


@pytest.mark.parametrize("text", [COMPARTMENTS, ASKED, ONE_CHANNEL])
def test_it_is_a_task(text: str, tmp_path: Path) -> None:
    outcome = attempted(text, tmp_path)
    assert not outcome["reason"], outcome["detail"]


def test_a_pair_of_angles_is_a_pair(tmp_path: Path) -> None:
    outcome = cut_and_attempted(HEAD + ANGLES, "Net", tmp_path)
    assert not outcome["reason"], outcome["detail"]
    assert len(outcome["inputs"]) == 3


def test_a_layer_of_one_channel_asks_for_one_of_what_made_several() -> None:
    message = "Given groups=1, weight of size [3, 1, 8, 3], expected input[1, 3, 8, 64] to have 1 channels, but got 3 channels"
    assert rescaled({"window": "8", "w_kernel": "3"}, message) == [{"window": "8", "w_kernel": "1"}]
    assert rescaled({"window": "8", "w_kernel": "2"}, message) == []


@pytest.mark.parametrize(
    ("name", "first"),
    [("layer_idx", "0"), ("layer_ind", "0"), ("stage_id", "0"), ("index", "0"), ("layer_num", "64"), ("num_idx", "64"),
     ("ignore_index", "64"), ("padding_idx", "1"), ("mind", "64")],
)  # fmt: skip
def test_a_place_among_others_is_a_small_number(name: str, first: str) -> None:
    assert values(name, "", Uses())[0] == first


def test_a_constant_of_a_file_is_done_without() -> None:
    namespace: dict[str, Any] = {}
    exec(cut({"net.py": HEAD + "import numpy as np\n" + FILES}, "net.py", "Net"), namespace)
    assert namespace["TABLE"] is None and namespace["Net"]()(torch.zeros(2)).tolist() == [1.0, 1.0]
