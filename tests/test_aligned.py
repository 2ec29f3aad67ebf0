"""Inputs that meet in one operator: their shapes follow from how it failed, as modules of fixed sizes show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sources.infer.inputs import Many, Tensor
from sources.infer.search import Solution, solve

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
GRU = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = nn.Conv2d(128 + 320, 2 * 128, 3, padding=1)
        self.new = nn.Conv2d(128 + 320, 128, 3, padding=1)

    def forward(self, h, x):
        z, r = torch.sigmoid(self.gates(torch.cat([h, x], 1))).chunk(2, 1)
        return (1 - z) * h + z * torch.tanh(self.new(torch.cat([r * h, x], 1)))
"""
UPDATE = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.flow = nn.Conv2d(2, 24, 3, padding=1)
        self.mix = nn.Conv2d(48 + 40 + 24, 48, 3, padding=1)

    def forward(self, state, context, flow):
        return state * torch.tanh(self.mix(torch.cat([state, context, self.flow(flow)], 1)))
"""
CELL = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(36 + 24, 4 * 36)

    def forward(self, x, h, c):
        i, f, g, o = self.mix(torch.cat([h, x], -1)).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c) + h, c
"""
MASKED = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(48, 40)

    def forward(self, x, m):
        x = self.mix(x).permute(1, 0, 2).clone()
        x.masked_fill_(m.unsqueeze(-1).transpose(0, 1), 0.0)
        return x
"""
STYLED = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(48 + 20, 8)

    def forward(self, x, style):
        s = style.expand(x.shape[1], x.shape[0], -1).transpose(0, 1)
        return self.mix(torch.cat([x, s], -1))
"""
COLUMNS = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(n, 16) for n in (11, 5, 7)])

    def forward(self, x):
        return sum(self.tables[i](x[:, i]) for i in range(x.shape[1]))
"""
QUERIES = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend = nn.MultiheadAttention(48, 4)

    def forward(self, x, mask, query):
        b, c, h, w = x.shape
        x = x.flatten(2).permute(2, 0, 1)
        query = query.unsqueeze(1).repeat(1, b, 1)
        return self.attend(query, x, x, key_padding_mask=mask.flatten(1))[0]
"""
MODULATED = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Linear(40, 24)
        self.weight = nn.Parameter(torch.randn(1, 16, 24, 3, 3))

    def forward(self, x, style):
        b, c, h, w = x.shape
        weight = (self.weight * self.scale(style).view(b, 1, c, 1, 1)).view(b * 16, c, 3, 3)
        return F.conv2d(x.view(1, b * c, h, w), weight, padding=1, groups=b).view(b, 16, h, w)
"""
MOMENTS = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(20, 48)
        self.hour, self.day = nn.Embedding(24, 48), nn.Embedding(7, 48)

    def forward(self, x, mark):
        mark = mark.long()
        return torch.tanh(self.mix(x)) + self.hour(mark[:, :, 1]) + self.day(mark[:, :, 0])
"""
NEIGHBOURS = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(3, 16)

    def forward(self, points):
        b, n, c = points.shape
        near = torch.cdist(points, points).sort(dim=-1)[1][:, :, :80]
        first = near[:, :, 0].view(b, n, 1).repeat([1, 1, 80])
        near[near == n] = first[near == n]
        return self.mix(torch.gather(points, 1, first[:, :, :1].expand(b, n, c)) - points).exp()
"""


CONDITIONAL = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.label_emb = nn.Embedding(10, 10)
        self.model = nn.Sequential(nn.Linear(110, 128), nn.ReLU(), nn.Linear(128, 256), nn.BatchNorm1d(256))

    def forward(self, noise, labels):
        return self.model(torch.cat((self.label_emb(labels), noise), -1))
"""
CODED = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(74, 8192)

    def forward(self, noise, labels, code):
        out = self.layer(torch.cat((noise, labels, code), -1))
        return out.view(out.shape[0], 128, 8, 8).tanh()
"""


def solved(text: str, tmp_path: Path) -> list[tuple[int, ...]]:
    """The shapes of the inputs that are found for a module."""
    path = tmp_path / "task.py"
    path.write_text(HEAD + text)
    namespace: dict[str, Any] = {"__name__": "task"}
    exec(compile(HEAD + text, str(path), "exec"), namespace)
    found = solve(namespace["Net"], namespace, HEAD + text)
    assert isinstance(found, Solution), found
    assert not any(isinstance(spec, Many) for spec in found.specs)
    return [spec.shape for spec in found.specs if isinstance(spec, Tensor)]


def test_a_recurrent_cell_takes_of_its_state_what_it_gives(tmp_path: Path) -> None:
    h, x = solved(GRU, tmp_path)
    assert (h[1], x[1]) == (128, 320)
    assert h[2:] == x[2:]


def test_something_else_may_be_joined_to_both(tmp_path: Path) -> None:
    state, context, flow = solved(UPDATE, tmp_path)
    assert (state[1], context[1], flow[1]) == (48, 40, 2)


def test_a_cell_with_four_gates_takes_a_quarter(tmp_path: Path) -> None:
    x, h, c = solved(CELL, tmp_path)
    assert (x[-1], h[-1], c[-1]) == (24, 36, 36)


def test_of_what_is_looked_up_and_joined_there_is_one_a_sample(tmp_path: Path) -> None:
    noise, labels = solved(CONDITIONAL, tmp_path)
    assert (noise, labels) == ((4, 100), (4,))


def test_all_that_is_joined_has_a_share(tmp_path: Path) -> None:
    noise, labels, code = solved(CODED, tmp_path)
    assert noise[-1] + labels[-1] + code[-1] == 74
    assert len(noise) == len(labels) == len(code) == 2


def test_a_mask_is_as_wide_as_what_its_view_meets(tmp_path: Path) -> None:
    x, m = solved(MASKED, tmp_path)
    assert m == x[:2]


def test_what_is_expanded_has_fewer_dimensions(tmp_path: Path) -> None:
    x, style = solved(STYLED, tmp_path)
    assert (len(x), len(style), x[-1] + style[-1]) == (3, 2, 48 + 20)


def test_a_list_of_layers_tells_how_many_columns_there_are(tmp_path: Path) -> None:
    assert solved(COLUMNS, tmp_path)[0][1] == 3


def test_queries_are_rows_and_a_mask_has_as_many_places_as_an_image(tmp_path: Path) -> None:
    x, mask, query = solved(QUERIES, tmp_path)
    assert (len(query), query[-1]) == (2, 48)
    assert mask[0] * mask[-1] == x[0] * x[2] * x[3]


def test_a_style_that_is_viewed_as_one_row_an_image_is_one(tmp_path: Path) -> None:
    x, style = solved(MODULATED, tmp_path)
    assert (x[1], style) == (24, (x[0], 40))


def test_what_is_known_of_a_moment_is_looked_up(tmp_path: Path) -> None:
    x, mark = solved(MOMENTS, tmp_path)
    assert x[:2] == mark[:2]


def test_a_mask_tells_how_many_points_there_are_at_least(tmp_path: Path) -> None:
    (points,) = solved(NEIGHBOURS, tmp_path)
    assert points[1] >= 80
