"""Models whose users take their answers by name, and networks that are told the shapes of observations and actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sources import mine, probe
from sources.text.named_answers import NOTE, named_answers
from tests.attempts import attempted
from tests.cuts import HEAD, cut

READER = f"""{HEAD}from transformers import PretrainedConfig


class Inner(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.line = nn.Linear(8, 8)

    def forward(self, x, return_dict=None):
        return_dict = return_dict if return_dict is not None else self.config.use_return_dict
        x = self.line(x)
        return {{"last_hidden_state": x}} if return_dict else (x,)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner(PretrainedConfig())

    def forward(self, x):
        return torch.relu(self.inner(x)["last_hidden_state"])
"""
CRITIC = """
SIDES = {2: 39, 4: 35}


class Net(nn.Module):
    def __init__(self, obs_shape, action_shape, layers):
        super().__init__()
        if len(obs_shape) != 3 or len(action_shape) != 1:
            raise ValueError("pixels are wanted, and actions")
        more = [m for _ in range(layers - 1) for m in (nn.ReLU(), nn.Conv2d(32, 32, 3))]
        self.eye = nn.Sequential(nn.Conv2d(obs_shape[0], 32, 3, stride=2), *more)
        self.value = nn.Linear(32 * SIDES[layers] ** 2 + action_shape[0], 1)

    def forward(self, obs, action):
        seen = torch.relu(self.eye(obs)).view(obs.size(0), -1)
        return self.value(torch.cat([seen, action], dim=1))
"""


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


def test_an_answer_that_is_taken_by_name_has_names(tmp_path: Path) -> None:
    told: dict[str, Any] = {"sites": [], "defaults": {}, "users": []}
    whole = {"name": "Reader", "source": cut({"a.py": READER}, "a.py", "Reader"), "told": told, "lacks": [],
             "header": []}  # fmt: skip
    outcome = probe.attempt_one(whole, mine.LARGE, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
    assert NOTE in outcome["source"]
    assert named_answers(HEAD) == HEAD


def test_observations_are_pixels_and_actions_a_few_numbers(tmp_path: Path) -> None:
    found = attempted(CRITIC, tmp_path)
    assert found["reason"] == "", found["detail"]
