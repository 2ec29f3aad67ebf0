"""DGL's sums over the nodes and edges of a graph, which is one graph and no batch of several."""

from dgl.heterograph import NeighbourGraph
from dgl.nn.pytorch import GATConv, GINConv, GraphConv, SAGEConv
from dgl.nn.pytorch.glob import AvgPooling, GlobalAttentionPooling, MaxPooling, Set2Set, SumPooling
from dgl.ops import edge_softmax

# What ``dgl.nn`` hands on is looked for here.
__all__ = [
    "AvgPooling", "GATConv", "GINConv", "GlobalAttentionPooling", "GraphConv",
    "MaxPooling", "SAGEConv", "Set2Set", "SumPooling", "edge_softmax",
]  # fmt: skip
DGLGraph = DGLHeteroGraph = NeighbourGraph
__version__ = "1.1.0"


def readout(frame, feat, weight, op):
    values = frame[feat] if weight is None else frame[feat] * frame[weight]
    if op == "max":
        return values.amax(0, keepdim=True)
    if op == "min":
        return values.amin(0, keepdim=True)
    return values.mean(0, keepdim=True) if op == "mean" else values.sum(0, keepdim=True)


def readout_nodes(graph, feat, weight=None, *, op="sum", ntype=None):
    return readout(graph.ndata, feat, weight, op)


def readout_edges(graph, feat, weight=None, *, op="sum", etype=None):
    return readout(graph.edata, feat, weight, op)


def sum_nodes(graph, feat, weight=None, *, ntype=None):
    return readout(graph.ndata, feat, weight, "sum")


def mean_nodes(graph, feat, weight=None, *, ntype=None):
    return readout(graph.ndata, feat, weight, "mean")


def max_nodes(graph, feat, weight=None, *, ntype=None):
    return readout(graph.ndata, feat, weight, "max")


def sum_edges(graph, feat, weight=None, *, etype=None):
    return readout(graph.edata, feat, weight, "sum")


def mean_edges(graph, feat, weight=None, *, etype=None):
    return readout(graph.edata, feat, weight, "mean")


def max_edges(graph, feat, weight=None, *, etype=None):
    return readout(graph.edata, feat, weight, "max")


def softmax_nodes(graph, feat, *, ntype=None):
    return graph.ndata[feat].softmax(0)


def broadcast_nodes(graph, graph_feat, *, ntype=None):
    return graph_feat.expand(graph.number_of_nodes(), *graph_feat.shape[1:])


def broadcast_edges(graph, graph_feat, *, etype=None):
    return graph_feat.expand(graph.number_of_edges(), *graph_feat.shape[1:])


def unbatch(graph):
    return [graph]


def remove_self_loop(graph):
    return graph  # one whose edges all count: nodes that lack one would have fewer neighbours than others


def add_self_loop(graph):
    return graph.with_self_loops()
