"""Networks that are told what an environment shows and takes: spaces as arguments, and what these make of inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sources import mine, probe
from sources.infer.forward.spaces import NUMBER, TABLE, others, shown
from sources.infer.input_search import MAX_CALLS, SAME_STALE, InputSearch
from sources.infer.inputs import BATCH, Many, Tensor
from sources.infer.running.progress import Budget
from tests.attempts import cut_and_attempted
from tests.cuts import HEAD

GYM = "import gymnasium as gym\nimport numpy as np\nfrom gymnasium import spaces\n"
IMAGES = """
class Net(nn.Module):
    def __init__(self, observation_space: gym.Space, width: int = 32):
        super().__init__()
        assert isinstance(observation_space, spaces.Box)
        assert looks_like_an_image(observation_space), "images only"
        self.body = nn.Sequential(nn.Conv2d(observation_space.shape[0], width, 8, 4), nn.ReLU(), nn.Flatten())
        with torch.no_grad():
            count = self.body(torch.as_tensor(observation_space.sample()[None]).float()).shape[1]
        self.head = nn.Linear(count, width)

    def forward(self, observations):
        return self.head(self.body(observations))


def looks_like_an_image(space):
    return len(space.shape) == 3 and space.dtype == np.uint8 and not np.any(space.low) and np.all(space.high == 255)
"""
KEYS = """
class Net(nn.Module):
    def __init__(self, observation_space: spaces.Dict, action_space: gym.Space):
        super().__init__()
        self.observation_space = observation_space
        self.parts = nn.ModuleDict({k: nn.Flatten() for k in observation_space.spaces})
        self.head = nn.Linear(spaces.utils.flatdim(observation_space), int(action_space.n))

    def forward(self, obs):
        assert isinstance(obs, dict)
        return self.head(torch.cat([part(obs[key].float()) for key, part in self.parts.items()], 1))
"""
BELOW = """
class Net(nn.Module):
    def __init__(self, action_space: spaces.Space, half: "spaces.Space | None" = None):
        super().__init__()
        self.action_space = action_space

    def scaled(self, action):
        assert isinstance(self.action_space, spaces.Box), "no box"
        return torch.tanh(action) * torch.as_tensor(self.action_space.high)


class Lower(Net):
    def __init__(self, *args, fast=False, **kwargs):
        super().__init__(*args, **kwargs)

    def forward(self, x):
        return self.scaled(x)
"""


@pytest.mark.parametrize(("text", "symbol"), [(IMAGES, "Net"), (KEYS, "Net"), (BELOW, "Lower")])
def test_a_network_is_told_the_spaces_that_it_asks_for(text: str, symbol: str, tmp_path: Path) -> None:
    outcome = cut_and_attempted(HEAD + GYM + text, symbol, tmp_path)
    assert not outcome["reason"], outcome["detail"]


STUBBORN = """class Net(torch.nn.Module):
    def __init__(self, ready=False):
        super().__init__()
        self.ready = ready

    def forward(self, x):
        {mark}
        assert self.ready, "not ready"
        return x
"""


@pytest.mark.parametrize(("mark", "settled"), [("pass", True), ("self.ready = len(x) > 99", False)])
def test_no_inputs_are_tried_against_what_the_module_was_given(mark: str, settled: bool, tmp_path: Path) -> None:
    namespace = probe.load("import torch\n" + STUBBORN.format(mark=mark), tmp_path)
    search = InputSearch(namespace["Net"](), {}, Budget(), None, MAX_CALLS, -1)
    assert search.run().specs is None
    assert (search.patience == SAME_STALE) is settled


def spaces() -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(mine.replacements()["gymnasium"], found)
    return found


def test_spaces_are_what_a_network_asks_of_them() -> None:
    known = spaces()
    box = known["Box"](np.array([0.0, -np.inf]), np.array([255.0, np.inf]))
    assert box.shape == (2,) and not box.is_bounded() and 0 <= box.sample()[0] <= 255
    assert known["Box"](0, 255, (3, 8, 8), np.uint8).sample().max() > 1
    table = known["Dict"](near=box, on=known["MultiBinary"](3), at=known["Discrete"](5, start=1))
    assert [*table] == ["near", "on", "at"] and known["flatdim"](table) == 10
    assert known["flatten_space"](table).shape == known["flatten"](table, table.sample()).shape == (10,)
    assert known["flatten"](known["MultiDiscrete"]([2, 3]), [1, 0]).tolist() == [0, 1, 1, 0, 0]
    assert isinstance(table, known["Space"]) and box.sample() in box


def test_spaces_take_each_others_place() -> None:
    known = spaces()
    assert (
        others("observation_space", "Box()", known, "AttributeError: 'Box' object has no attribute 'spaces'")[0]
        == TABLE
    )
    assert others("action_space", "Box()", known, "")[0] == NUMBER
    assert others("observation_space", "Box()", {}, "") == others("width", "64", known, "") == []
    assert not any("Dict" in t for t in others("x", "Box()", {n: known[n] for n in ("Box", "Discrete")}, ""))


def test_inputs_are_what_the_space_that_is_held_shows() -> None:
    known, net = spaces(), torch.nn.Module()
    net._observation_space = eval(TABLE, known)
    net.action_space = known["MultiDiscrete"]([3, 5])
    (seen,), (done,) = shown(net, "obs"), shown(net, "actions")
    assert isinstance(seen, Many) and seen.keys == ("image", "vector") and seen.items[1] == Tensor((BATCH, 64))
    assert done == Tensor((BATCH, 2), "int", 3) and shown(net, "width") == []
