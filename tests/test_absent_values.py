"""What a text leaves out, and what stands for that: None, tensors of no rows, settings that have a value if absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from sources import probe
from tests.attempts import attempted

SCRIPTED = """class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.of_x, self.of_places = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, mask: torch.Tensor = torch.ones((0, 0)), pos_emb: torch.Tensor = torch.empty(0)):
        if mask.size(0) > 0:
            x = x.masked_fill(mask.unsqueeze(-1) == 0, 0.0)
        return self.of_x(x) * self.of_places(pos_emb)
"""
SCALAR = """class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.line = nn.Linear(dim, 1)

    def forward(self, hidden, target=None, mask: torch.Tensor = torch.tensor(0)):
        return self.line(hidden).sigmoid() * mask.transpose(-1, -2)
"""
@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


@pytest.mark.parametrize("text", [SCRIPTED, SCALAR], ids=["scripted", "scalar"])
def test_what_is_left_out_and_needed_is_given(text: str, tmp_path: Path) -> None:
    outcome = attempted(text, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
