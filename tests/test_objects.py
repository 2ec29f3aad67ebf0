"""Inputs of several objects, or steps, for each sample: what makes one dimension of both takes one more than it seems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kdata.record import Definition, Origin, SourceFile
from sources.infer.inputs import Many, Specs, Tensor
from sources.infer.search import Solution, solve
from sources.mine import cut_step

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
EACH = """class Each(nn.Conv2d):
    def forward(self, g):
        n, k = g.shape[:2]
        y = super().forward(g.flatten(0, 1))
        return y.view(n, k, *y.shape[1:])


"""
UPSAMPLED = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.skip = nn.Conv2d(8, 8, 1)

    def forward(self, x, g):
        n, k = g.shape[:2]
        y = F.interpolate(g.flatten(start_dim=0, end_dim=1), scale_factor=2, mode="bilinear")
        return self.skip(x).unsqueeze(1) + y.view(n, k, *y.shape[1:])
"""
STATE = (
    EACH
    + """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = Each(16 + 8, 3 * 8, 3, padding=1)

    def forward(self, g, h):
        forget, update, new = self.gates(torch.cat([g, h], 2)).chunk(3, 2)
        return torch.sigmoid(forget) * h + torch.sigmoid(update) * torch.tanh(new)
"""
)
PLACES = (
    EACH
    + """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fine, self.coarse, self.out = Each(6, 4, 1), Each(10, 4, 1), Each(4 + 8, 8, 1)

    def forward(self, g, h):
        g = self.fine(g[0]) + self.coarse(torch.relu(g[1]))
        return self.out(torch.cat([g, h], 2)).tanh()
"""
)
MATRIX = """class Net(nn.Module):
    def forward(self, x, y):
        table = torch.eye(3).repeat(x.shape[0], 1, 1)
        table[:, :2, 2] = torch.stack((x, y), 1)
        return table
"""
COINS = "class Net(nn.Module):\n    def forward(self, x, p):\n        return x + torch.zeros(8).bernoulli_(p)[0] * p.sum()\n"


def specs(text: str, tmp_path: Path) -> Specs:
    """The inputs that are found for a module."""
    path = tmp_path / "task.py"
    path.write_text(HEAD + text)
    namespace: dict[str, Any] = {"__name__": "task", "__file__": str(path)}
    exec(compile(HEAD + text, str(path), "exec"), namespace)
    found = solve(namespace["Net"], namespace, HEAD + text)
    assert isinstance(found, Solution), found
    return found.specs


def shape(spec: Any) -> tuple[int, ...]:
    assert isinstance(spec, Tensor)
    return spec.shape


def test_maps_of_several_objects_meet_one_map(tmp_path: Path) -> None:
    x, g = map(shape, specs(UPSAMPLED, tmp_path))
    assert (len(x), len(g)) == (4, 5)
    assert (x[1], g[2], x[3]) == (8, 8, 2 * g[4])


def test_a_state_of_each_object_is_joined_to_its_map(tmp_path: Path) -> None:
    g, h = map(shape, specs(STATE, tmp_path))
    assert (g[2], h[2]) == (16, 8)
    assert g[:2] + g[3:] == h[:2] + h[3:]


def test_a_tuple_has_what_the_layers_take_that_its_items_go_to(tmp_path: Path) -> None:
    g, h = specs(PLACES, tmp_path)
    assert isinstance(g, Many)
    assert [shape(t)[2] for t in g.items] == [6, 10]
    assert shape(h)[2] == 8


def test_what_is_written_to_a_place_has_as_many_dimensions_as_that(tmp_path: Path) -> None:
    x, y = map(shape, specs(MATRIX, tmp_path))
    assert x == y == (4,)


def test_chances_are_between_nothing_and_one(tmp_path: Path) -> None:
    _, p = specs(COINS, tmp_path)
    assert isinstance(p, Tensor)
    assert p.kind == "unit"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def loss(x, *, mean, scale, eps=1e-6):\n    return torch.exp(x - mean) / scale\n", "loss(x, mean=mean, scale=scale)"),
        ("def loss(*, x):\n    return torch.exp(x)\n", ""),
        ("def loss(x=None, *, y):\n    return torch.exp(y)\n", "loss(y=y)"),
    ],
)  # fmt: skip
def test_a_function_is_given_what_it_takes_by_name_only(text: str, said: str) -> None:
    file = SourceFile(Origin("local", "net", "1", "net.py", ("MIT",)), HEAD + text)
    found = [d for d in cut_step().function([file]) if isinstance(d, Definition)]
    assert [said in d.source for d in found] == [True] * bool(said)
