"""Inputs that go by constants of a program, and the two ends of each edge as inputs of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attempts import attempted

ATOMS = """
KINDS, SENT, RECEIVED, WAYS = "_kinds", "_idx_j", "_idx_i", "_r_ij"


class Net(nn.Module):
    def __init__(self, width=16, key="charges"):
        super().__init__()
        self.key = key
        self.embedding = nn.Embedding(20, width)
        self.filter = nn.Linear(1, width)

    def forward(self, inputs):
        kinds = inputs[KINDS]
        idx_i, idx_j = inputs[RECEIVED], inputs[SENT]
        far = torch.norm(inputs[WAYS], dim=1, keepdim=True)
        x = self.embedding(kinds) * inputs[self.key]
        for key in ("a", "b"):
            inputs[key] = x
        return x.index_add(0, idx_i, x[idx_j] * self.filter(far))
"""
MESSAGES = """
class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.line, self.filter = nn.Linear(width, width), nn.Sequential(nn.Linear(8, width), nn.ReLU())

    def forward(self, x, f_ij, idx_i, idx_j, cut_ij):
        sent = self.line(x)[idx_j] * self.filter(f_ij) * cut_ij[:, None]
        return torch.zeros_like(x).index_add(0, idx_i, sent)
"""


@pytest.mark.parametrize("text", [ATOMS, MESSAGES], ids=["by constants", "one by one"])
def test_nodes_have_a_row_each_and_edges_two_ends(text: str, tmp_path: Path) -> None:
    outcome = attempted(text, tmp_path)
    assert not outcome["reason"], outcome["detail"]
    ends = [i for i in outcome["inputs"] if i["dtype"] == "int64" and i["shape"][0] > 24]
    assert len(ends) == 2 and all(i["shape"] == ends[0]["shape"] == [144] and i["high"] < 24 for i in ends)
    others = [i["shape"][0] for i in outcome["inputs"] if i not in ends]
    assert set(others) == {24, 144}
