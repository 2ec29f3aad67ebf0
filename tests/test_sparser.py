"""Networks of point clouds that sample more points, one after another, than a task may have operators."""

from __future__ import annotations

from pathlib import Path

from sources.probe import attempt_one
from sources.text.sparser import NOTE, sparser
from tests.cuts import HEAD

SAMPLED = (
    HEAD
    + """

def farthest(x, npoint):
    chosen, away = [], torch.full(x.shape[:2], 1e10)
    at = torch.zeros(x.shape[0], dtype=torch.long)
    for _ in range(npoint):
        chosen.append(at)
        away = torch.minimum(away, (x - x[torch.arange(x.shape[0]), at].unsqueeze(1)).square().sum(-1))
        at = away.argmax(-1)
    return torch.stack(chosen, 1)


class Abstraction(nn.Module):
    def __init__(self, npoint, radii, width):
        super().__init__()
        self.npoint = npoint
        self.layer = nn.Linear(3, width)

    def forward(self, x):
        return self.layer(x[torch.arange(x.shape[0]).unsqueeze(1), farthest(x, self.npoint)])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = Abstraction(1024, [16, 32], 64)

    def forward(self, points):
        return self.layers(points).amax(1)
"""
)


def test_of_points_that_are_sampled_in_a_loop_there_are_fewer(tmp_path: Path) -> None:
    cut = {"name": "Net", "source": SAMPLED, "told": {"sites": [], "defaults": {}}, "header": [], "lacks": []}
    outcome = attempt_one(cut, 500, tmp_path)
    assert not outcome["reason"], outcome
    assert NOTE in outcome["source"] and "Abstraction(64, [16, 32], 64)" in outcome["source"]


def test_numbers_that_count_no_points_stay() -> None:
    assert sparser(SAMPLED.replace("1024", "width"), 16) == SAMPLED.replace("1024", "width")
    listed = "def group(nsample_list, widths):\n    return nsample_list\n\n\ngroup([16, 128], widths=[16, 128])\n"
    assert sparser(listed, 16).endswith("group([4, 8], widths=[16, 128])\n")
