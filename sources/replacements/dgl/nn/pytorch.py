"""DGL's layers that others build on, over a graph and the features of its nodes."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def gathered(graph, feat, edge_weight=None):
    """The features of each node's neighbours, times their edges' weights: nodes, neighbours, features."""
    sent = feat[graph.edges()[0]].unflatten(0, (graph.number_of_nodes(), -1))
    return sent if edge_weight is None else sent * edge_weight.view(*sent.shape[:2], *[1] * (feat.dim() - 1))


class GraphConv(nn.Module):
    def __init__(
        self, in_feats, out_feats, norm="both", weight=True, bias=True, activation=None, allow_zero_in_degree=False
    ):
        super().__init__()
        self.norm = norm
        self.weight = nn.Parameter(torch.empty(in_feats, out_feats)) if weight else None
        self.bias = nn.Parameter(torch.zeros(out_feats)) if bias else None
        self.activation = activation
        if weight:
            nn.init.xavier_uniform_(self.weight)

    def forward(self, graph, feat, weight=None, edge_weight=None):
        if self.norm in ("left", "both"):
            degree = graph.out_degrees().to(feat).clamp(min=1).unsqueeze(-1)
            feat = feat * (degree.pow(-0.5) if self.norm == "both" else 1 / degree)
        weight = self.weight if weight is None else weight
        feat = feat if weight is None else feat @ weight
        out = gathered(graph, feat, edge_weight).sum(1)
        if self.norm in ("right", "both"):
            degree = graph.in_degrees().to(feat).clamp(min=1).unsqueeze(-1)
            out = out * (degree.pow(-0.5) if self.norm == "both" else 1 / degree)
        out = out if self.bias is None else out + self.bias
        return out if self.activation is None else self.activation(out)


class SAGEConv(nn.Module):
    def __init__(
        self, in_feats, out_feats, aggregator_type="mean", feat_drop=0.0, bias=True, norm=None, activation=None
    ):
        super().__init__()
        if aggregator_type not in ("mean", "gcn", "pool"):
            raise NotImplementedError(aggregator_type)
        self.kind = aggregator_type
        self.feat_drop = nn.Dropout(feat_drop)
        self.fc_pool = nn.Linear(in_feats, in_feats) if aggregator_type == "pool" else None
        self.fc_self = nn.Linear(in_feats, out_feats, bias=bias) if aggregator_type != "gcn" else None
        self.fc_neigh = nn.Linear(in_feats, out_feats, bias=bias and aggregator_type == "gcn")
        self.norm, self.activation = norm, activation

    def forward(self, graph, feat, edge_weight=None):
        feat = self.feat_drop(feat)
        if self.kind == "pool":
            neighbours = gathered(graph, F.relu(self.fc_pool(feat)), edge_weight).amax(1)
        elif self.kind == "gcn":
            neighbours = (gathered(graph, feat, edge_weight).sum(1) + feat) / (graph.in_degrees().unsqueeze(-1) + 1)
        else:
            neighbours = gathered(graph, feat, edge_weight).mean(1)
        out = self.fc_neigh(neighbours)
        out = out if self.fc_self is None else out + self.fc_self(feat)
        out = out if self.activation is None else self.activation(out)
        return out if self.norm is None else self.norm(out)


class GINConv(nn.Module):
    def __init__(self, apply_func=None, aggregator_type="sum", init_eps=0, learn_eps=False, activation=None):
        super().__init__()
        self.apply_func, self.kind, self.activation = apply_func, aggregator_type, activation
        self.eps = nn.Parameter(torch.tensor([float(init_eps)])) if learn_eps else float(init_eps)

    def forward(self, graph, feat, edge_weight=None):
        sent = gathered(graph, feat, edge_weight)
        sent = sent.amax(1) if self.kind == "max" else sent.mean(1) if self.kind == "mean" else sent.sum(1)
        out = (1 + self.eps) * feat + sent
        out = out if self.apply_func is None else self.apply_func(out)
        return out if self.activation is None else self.activation(out)


class GATConv(nn.Module):
    def __init__(
        self,
        in_feats,
        out_feats,
        num_heads,
        feat_drop=0.0,
        attn_drop=0.0,
        negative_slope=0.2,
        residual=False,
        activation=None,
        allow_zero_in_degree=False,
        bias=True,
    ):
        super().__init__()
        self.heads = num_heads
        self.fc = nn.Linear(in_feats, out_feats * num_heads, bias=False)
        self.attn_l = nn.Parameter(torch.randn(1, num_heads, out_feats) * 0.1)
        self.attn_r = nn.Parameter(torch.randn(1, num_heads, out_feats) * 0.1)
        self.feat_drop, self.attn_drop = nn.Dropout(feat_drop), nn.Dropout(attn_drop)
        self.negative_slope, self.activation = negative_slope, activation
        self.bias = nn.Parameter(torch.zeros(num_heads * out_feats)) if bias else None
        self.res_fc = nn.Linear(in_feats, out_feats * num_heads, bias=False) if residual else None

    def forward(self, graph, feat, get_attention=False):
        feat = self.feat_drop(feat)
        hidden = self.fc(feat).unflatten(-1, (self.heads, -1))
        left, right = (hidden * self.attn_l).sum(-1), (hidden * self.attn_r).sum(-1)
        scores = F.leaky_relu(gathered(graph, left) + right.unsqueeze(1), self.negative_slope).softmax(1)
        out = (gathered(graph, hidden) * self.attn_drop(scores).unsqueeze(-1)).sum(1)
        if self.res_fc is not None:
            out = out + self.res_fc(feat).view_as(out)
        out = out if self.bias is None else out + self.bias.view(1, self.heads, -1)
        out = out if self.activation is None else self.activation(out)
        return (out, scores.flatten(0, 1)) if get_attention else out
