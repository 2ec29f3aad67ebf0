"""Attributes that a script sets of a module are its class's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sources import mine, probe
from sources.text.set_outside import GIVEN, NOTE, set_within
from tests.attempts import HEAD

NET = '''
class Net(nn.Module):
    """Cells, of which some are dropped."""

    def __init__(self, width=8):
        super().__init__()
        self.line = nn.Linear(width, width)
        self.known = 2

    def forward(self, x):
        s = self.line(x) * self.known
        if self.training and self.drop_path_prob > 0:
            s = F.dropout(s, self.drop_path_prob)
        return s + x * self.temperature
'''
LACKS = "AttributeError: 'Net' object has no attribute 'drop_path_prob'"


def test_what_a_script_sets_is_there_from_the_start(tmp_path: Path) -> None:
    told: dict[str, Any] = {"sites": [], "users": [], "defaults": {"drop_path_prob": "0.2", "temperature": "2.0"}}
    cut = {"name": "Net", "source": HEAD + NET, "told": told, "lacks": [], "header": []}
    outcome = probe.attempt_one(cut, mine.LARGE, tmp_path)
    assert not outcome["reason"], outcome
    assert NOTE in outcome["source"]
    assert "    drop_path_prob = 0.2\n    temperature = 2.0\n" in outcome["source"]


def test_only_what_is_set_nowhere_and_has_a_usual_number_is_set() -> None:
    assert set_within(NET, LACKS, {"temperature": "2.0"}) == NET  # nothing is known of what is lacking
    assert set_within(NET, LACKS, {"drop_path_prob": "'linear'"}) == NET
    assert set_within(NET, "AttributeError: 'Other' object has no attribute 'known'", {"known": "1"}) == NET
    assert set_within(NET, "AttributeError: 'Net' object has no attribute 'known'", {"known": "1"}) == NET
    whole = set_within(NET, LACKS, {"drop_path_prob": "0.2", "known": "1", "training": "True"})
    assert "    drop_path_prob = 0.2\n    def __init__" in whole


STYLED = """
class Styled(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = None
        self.bias = None
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))

    def forward(self, x):
        assert self.weight is not None and self.bias is not None, "assign them first"
        n, c = x.shape[:2]
        flat = x.reshape(1, n * c, *x.shape[2:])
        mean, variance = self.mean.repeat(n), self.variance.repeat(n)
        return F.batch_norm(flat, mean, variance, self.weight, self.bias, True).view_as(x)


class Net(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.layer, self.style = nn.Conv2d(3, channels, 3, padding=1), Styled(channels)

    def forward(self, x):
        return self.style(self.layer(x)).relu()
"""


def test_what_a_layer_asserts_that_it_was_assigned_is_there_from_the_start(tmp_path: Path) -> None:
    told: dict[str, Any] = {"sites": [], "users": [], "defaults": {}}
    cut = {"name": "Net", "source": HEAD + STYLED, "told": told, "lacks": [], "header": []}
    outcome = probe.attempt_one(cut, mine.LARGE, tmp_path)
    assert not outcome["reason"], outcome
    assert GIVEN in outcome["source"]
    assert outcome["source"].count("torch.nn.Parameter(torch.rand(channels) + 0.5)") == 2
