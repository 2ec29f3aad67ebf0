"""Layers of torch_geometric's older versions: loops give edges alone, and sending is told first how to aggregate."""

from __future__ import annotations

from typing import Any

import torch

from tests.cuts import HEAD, cut

LAYER = f"""{HEAD}from torch_geometric.nn import MessagePassing
from torch_geometric.utils import add_self_loops


class Heads(MessagePassing):
    def __init__(self, width):
        super().__init__()
        self.aggr = "mean"

    def forward(self, x, edges):
        edges = add_self_loops(edges, num_nodes=x.size(0))
        return self.propagate(self.aggr, edges, x=x.view(-1, 2, 4))

    def message(self, x_j):
        return x_j


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = Heads(width)

    def forward(self, *given):
        if len(given) == 2:
            x, edges = given[0], given[1]
        elif len(given) == 1:
            x, edges = given[0].x, given[0].edges
        return self.layer(x, edges)
"""


def test_nodes_come_first_whatever_their_features_are() -> None:
    source = cut({"net.py": LAYER}, "net.py", "Net")
    space: dict[str, Any] = {}
    exec(source, space)
    x, edges = torch.randn(3, 8), torch.tensor([[0, 1], [2, 2]])
    answer = space["Net"](8)(x, edges).flatten(1)
    torch.testing.assert_close(answer, torch.stack([x[0], x[1], x.mean(0)]))
    assert "def forward(self, x, edges):" in source.split("class Net")[1]  # what an example names is made by its name


SUMMED = f"""{HEAD}from torch_geometric.nn import MessagePassing


class Net(MessagePassing):
    def __init__(self):
        super().__init__(aggr="add")

    def forward(self, x, edges):
        return self.propagate(edges, x=x)

    def message(self, x_j):
        return x_j

    def aggregate(self, inputs, index, ptr=None, dim_size=None):
        return super().aggregate(2 * inputs, index, ptr, dim_size)
"""


def test_aggregating_is_told_of_compressed_rows_before_how_many_there_are() -> None:
    space: dict[str, Any] = {}
    exec(cut({"net.py": SUMMED}, "net.py", "Net"), space)
    x, edges = torch.randn(3, 8), torch.tensor([[0, 1], [2, 2]])
    torch.testing.assert_close(space["Net"]()(x, edges), torch.stack([0 * x[0], 0 * x[1], 2 * (x[0] + x[1])]))
