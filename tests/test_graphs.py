"""Modules that take a graph along which messages are sent, and DGL's own functions and layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from sources import mine, probe
from sources.infer import graph_object
from sources.infer.forward.graphs import graph
from sources.infer.inputs import Many, Tensor, draw
from sources.infer.search import Solution, solve
from sources.watch.capture import decoded, encoded
from tests.attempts import attempted
from tests.cuts import cut

LAYER = """import dgl
import dgl.function as fn
import torch
import torch.nn as nn


class Gated(nn.Module):
    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.A, self.B = nn.Linear(in_dim, out_dim), nn.Linear(in_dim, out_dim)

    def forward(self, g, h, e):
        g.ndata["h"], g.edata["e"] = self.A(h), self.B(e)
        g.apply_edges(fn.u_add_v("h", "h", "sum"))
        g.edata["gate"] = torch.sigmoid(g.edata["sum"] + g.edata["e"])
        g.update_all(fn.u_mul_e("h", "gate", "m"), fn.sum("m", "out"))
        return g.ndata["out"]


class Net(nn.Module):
    def __init__(self, vocabulary, dim):
        super().__init__()
        self.table = nn.Embedding(vocabulary, dim)
        self.layers = nn.ModuleList([Gated(dim, dim) for _ in range(2)])
        self.edges = nn.Linear(1, dim)

    def forward(self, g, h, e):
        h, e = self.table(h), self.edges(e)
        for layer in self.layers:
            h = layer(g, h, e)
        g.ndata["h"] = h
        return dgl.mean_nodes(g, "h")


class Labelled(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.line = nn.Linear(dim, dim)

    def forward(self, graph):
        graph.update_all(fn.copy_u("feat", "m"), fn.max("m", "best"))
        return self.line(graph.ndata["best"])
"""


@pytest.fixture
def module() -> Any:
    space: dict[str, Any] = {}
    for name in ("dgl.heterograph", "dgl.function", "dgl.ops"):
        exec(mine.replacements()[name], space)
    return space


def path() -> tuple[Any, Any, torch.Tensor]:
    neighbours = torch.tensor([[1, 2], [0, 0], [2, 1]])
    x = torch.tensor([[1.0], [2.0], [4.0]])
    return neighbours, x, torch.arange(6.0)[:, None]


def test_messages_come_to_the_nodes_that_edges_end_at(module: dict[str, Any]) -> None:
    neighbours, x, e = path()
    g = module["NeighbourGraph"](neighbours, {"x": x}, {"e": e})
    g.update_all(module["u_mul_e"]("x", "e", "m"), module["sum"]("m", "out"))
    assert g.ndata["out"].flatten().tolist() == [2 * 0 + 4 * 1, 1 * 2 + 1 * 3, 4 * 4 + 2 * 5]
    g.apply_edges(module["u_sub_v"]("x", "x", "d"))
    assert g.edata["d"].flatten().tolist() == [1.0, 3.0, -1.0, -1.0, 0.0, -2.0]
    g.update_all(lambda edges: {"m": edges.src["x"]}, lambda nodes: {"top": nodes.mailbox["m"].amax(1)})
    assert g.ndata["top"].flatten().tolist() == [4.0, 1.0, 4.0]
    assert module["edge_softmax"](g, e).view(3, 2).sum(1).tolist() == pytest.approx([1.0] * 3)
    assert g.out_degrees().tolist() == [2, 2, 2] and g.in_degrees().tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="match 3 rows"):
        g.ndata["wrong"] = e


def test_a_scope_of_a_graph_leaves_nothing_behind(module: dict[str, Any]) -> None:
    neighbours, x, _ = path()
    g = module["NeighbourGraph"](neighbours, {"x": x})
    with g.local_scope():
        g.ndata["y"] = x
        assert "y" in g.srcdata
    copy = g.local_var()
    copy.ndata["z"] = x
    assert list(g.ndata) == list(g.dstdata) == ["x"]


def test_layers_sum_up_what_neighbours_have() -> None:
    text = "from dgl.nn import GraphConv\nimport dgl\n\n\nclass Net(GraphConv):\n    pass\n"
    space: dict[str, Any] = {}
    exec(cut({"a.py": text}, "a.py", "Net"), space)
    neighbours, x, _ = path()
    exec(mine.replacements()["dgl.heterograph"], space)
    net = space["Net"](1, 1, norm="none", bias=False)
    torch.nn.init.ones_(net.weight)
    assert net(space["NeighbourGraph"](neighbours), x).flatten().tolist() == [6.0, 2.0, 6.0]


@pytest.mark.parametrize(("kind", "parts"), [("mean", {"fc_self", "fc_neigh"}), ("gcn", {"fc_neigh"}),
                                             ("pool", {"fc_pool", "fc_self", "fc_neigh"})])  # fmt: skip
def test_layers_have_the_weights_that_they_use_and_edges_count_by_theirs(kind: str, parts: set[str]) -> None:
    space: dict[str, Any] = {}
    exec(cut({"a.py": "from dgl.nn import SAGEConv\n\n\nclass Net(SAGEConv):\n    pass\n"}, "a.py", "Net"), space)
    exec(mine.replacements()["dgl.heterograph"], space)
    neighbours, x, weights = path()
    net = space["Net"](1, 2, kind)
    assert {name.partition(".")[0] for name, _ in net.named_parameters()} == parts
    for parameter in net.parameters():
        torch.nn.init.ones_(parameter)  # with others a relu may let nothing through
    graph = space["NeighbourGraph"](neighbours)
    ones = torch.ones_like(weights)
    assert torch.equal(net(graph, x, edge_weight=ones), net(graph, x))
    changed = net(graph, x + 1, edge_weight=weights)
    assert not torch.equal(changed, net(graph, x + 1))
    changed.sum().backward()
    assert all(p.grad is not None for p in net.parameters())


def test_what_is_not_held_for_is_refused(module: dict[str, Any]) -> None:
    neighbours, _, e = path()
    with pytest.raises(NotImplementedError):
        module["edge_softmax"](module["NeighbourGraph"](neighbours), e, norm_by="src")


@pytest.mark.parametrize("symbol", ["Gated", "Net", "Labelled"])
def test_a_module_of_a_graph_becomes_a_task_of_its_tensors(symbol: str, tmp_path: Path) -> None:
    told = {"sites": [], "defaults": {}, "users": [], "others": [], "seen": None, "holds": {}}
    whole = {"name": symbol, "symbol": symbol, "source": cut({"a.py": LAYER}, "a.py", symbol), "told": told, "lacks": [],
             "header": []}  # fmt: skip
    outcome = probe.attempt_one(whole, 200, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
    space: dict[str, Any] = {"__name__": "task"}
    exec(outcome["source"], space)
    arguments = space["get_init_inputs"]()
    torch.manual_seed(0)
    answer = space[outcome["name"]](*arguments)(*space["get_inputs"]())
    assert torch.isfinite(answer).all() and answer.numel()
    assert all(isinstance(x, torch.Tensor) for x in space["get_inputs"]())


def test_a_drawn_graph_tells_what_it_was_made_of_whatever_is_laid_into_it() -> None:
    spec = graph(["ndata.h", "edata.e"], [Tensor((24, 3)), Tensor((144, 2))])
    made = draw(spec)
    made.ndata["more"] = made.ndata["h"] * 2
    assert [tuple(t.shape) for t in graph_object.given(made)] == [(24, 6), (24, 3), (144, 2)]
    assert decoded(encoded(Solution({}, (spec,)))).specs == (spec,)
    assert draw(Many((Tensor((1,)),), "list")) and not graph_object.given([made])


def test_the_rows_of_inputs_are_those_of_the_graph_beside_them(tmp_path: Path) -> None:
    text = cut({"a.py": LAYER}, "a.py", "Gated")
    path, space = tmp_path / "cut.py", dict[str, Any]()
    path.write_text(text)
    exec(compile(text, str(path), "exec"), space)
    found = solve(space["Gated"], space | {"__file__": str(path)}, text)
    assert isinstance(found, Solution), found
    g, h, e = found.specs
    assert isinstance(g, Many) and isinstance(h, Tensor) and isinstance(e, Tensor)
    assert (h.shape[0], e.shape[0]) == (24, 24 * 6)


SEGMENTS = """import torch
import torch.nn as nn


class Layer(nn.Module):
    def __init__(self, nf, edges_nf=1):
        super().__init__()
        self.edge, self.node = nn.Linear(2 * nf + edges_nf, nf), nn.Linear(2 * nf, nf)

    def forward(self, h, edges, edge_attr=None):
        row, col = edges
        sent = self.edge(torch.cat([h[row], h[col], edge_attr], dim=1))
        index = row.unsqueeze(-1).expand(-1, sent.size(1))
        return self.node(torch.cat([h, torch.zeros_like(h).scatter_add(0, index, sent)], dim=1))
"""


def test_what_is_beside_a_list_of_edges_has_a_row_for_each_node_or_edge(tmp_path: Path) -> None:
    path, space = tmp_path / "cut.py", dict[str, Any]()
    path.write_text(SEGMENTS)
    exec(compile(SEGMENTS, str(path), "exec"), space)
    found = solve(space["Layer"], space | {"__file__": str(path)}, SEGMENTS)
    assert isinstance(found, Solution), found
    nodes, edges, features = found.specs
    assert isinstance(nodes, Tensor) and isinstance(edges, Tensor) and isinstance(features, Tensor)
    assert (edges.kind, edges.shape[0]) == ("int", 2)
    assert (nodes.shape[0], features.shape[0]) == (edges.high, edges.shape[1])


SENDING = """
class Net(nn.Module):
    def __init__(self, in_features, edge_index):
        super().__init__()
        self.line = nn.Linear(in_features, in_features)
        self.register_buffer("fixed", edge_index)

    def forward(self, x, edge_index, edge_weight):
        weights = torch.cat([edge_weight, edge_weight.new_ones(self.fixed.size(1))])
        sources, targets = torch.cat([edge_index, self.fixed], 1)
        return self.line(torch.zeros_like(x).index_add(0, targets, weights.sqrt()[:, None] * x[sources]))
"""


def test_edges_have_a_positive_weight_each_and_constructors_are_given_some(tmp_path: Path) -> None:
    outcome = attempted(SENDING, tmp_path)
    assert [len(i["shape"]) for i in outcome["inputs"]] == [2, 2, 1], outcome["detail"]


def test_edges_come_from_the_first_of_a_pair_and_lead_to_the_second(module: dict[str, Any]) -> None:
    exec(mine.replacements()["dgl.utils"], module)
    neighbours, x, _ = path()
    graph = module["NeighbourGraph"](neighbours)
    assert module["expand_as_pair"](x, graph) == (x, x) and module["expand_as_pair"](64) == (64, 64)
    assert module["expand_as_pair"]((1, 2), graph) == (1, 2)
    graph.is_block = True
    assert torch.equal(module["expand_as_pair"](torch.ones(9, 2), graph)[1], torch.ones(3, 2))
