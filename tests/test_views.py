"""Views of what torch lays out otherwise by now, and inputs whose rank only what follows them tells."""

from __future__ import annotations

from pathlib import Path

from sources.text.views import NOTE, reshaped
from tests.attempts import attempted

TURNED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 128, 9)
        self.rows = nn.Parameter(torch.randn(10, 400, 8))

    def forward(self, x):
        x = torch.relu(self.first(x)).view(x.size(0), 128, -1)
        votes = torch.einsum("bcn,knc->bkn", x[:, :8], self.rows)  # one size only is right
        return votes.transpose(1, 2).view(x.size(0), -1)
"""
SPREAD = """
class Net(nn.Module):
    def __init__(self, count=16, kinds=12):
        super().__init__()
        self.scale = nn.Embedding(kinds, 1)
        self.means = nn.Parameter(torch.randn(count))

    def forward(self, x, kinds):
        x = (self.scale(kinds) * x.unsqueeze(-1)).expand(-1, -1, -1, self.means.numel())
        return torch.exp(-((x - self.means) ** 2))
"""


def test_views_that_are_none_are_reshapes(tmp_path: Path) -> None:
    outcome = attempted(TURNED, tmp_path)
    assert outcome["reason"] == "" and NOTE in outcome["source"] and "view" not in outcome["source"].split("class")[1]


def test_a_view_as_another_type_stays_one() -> None:
    text = "y = x.view(torch.int32) + z.view(n, -1) + w.view(dtype=t) + v.view(v.dtype)\n"
    assert reshaped(text) == text.replace("z.view", "z.reshape")
    assert reshaped("y = x.t()\n") == "y = x.t()\n"


def test_what_is_spread_over_more_dimensions_has_these(tmp_path: Path) -> None:
    outcome = attempted(SPREAD, tmp_path)
    assert outcome["reason"] == "" and [len(i["shape"]) for i in outcome["inputs"]] == [3, 3]
