"""torch_geometric's message passing and the layers that others build on, over dense node features and edge lists."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter
from torch_geometric.nn.conv.message_passing import MessagePassing, scatter


def maybe_num_nodes(edge_index, num_nodes=None):
    return num_nodes if num_nodes is not None else int(edge_index.max()) + 1


def degree(index, num_nodes=None, dtype=None):
    n = maybe_num_nodes(index, num_nodes)
    return torch.zeros(n, dtype=dtype or torch.float).scatter_add_(
        0, index, torch.ones_like(index, dtype=dtype or torch.float)
    )


def add_self_loops(edge_index, edge_attr=None, fill_value=1.0, num_nodes=None):
    n = maybe_num_nodes(edge_index, num_nodes)
    loops = torch.arange(n).unsqueeze(0).repeat(2, 1)
    if edge_attr is not None:
        edge_attr = torch.cat([edge_attr, edge_attr.new_full((n, *edge_attr.shape[1:]), fill_value)])
    return torch.cat([edge_index, loops], dim=1), edge_attr


add_remaining_self_loops = add_self_loops


def remove_self_loops(edge_index, edge_attr=None):
    kept = edge_index[0] != edge_index[1]
    return edge_index[:, kept], None if edge_attr is None else edge_attr[kept]


def softmax(src, index, ptr=None, num_nodes=None, dim=0):
    n = maybe_num_nodes(index, num_nodes)
    top = scatter(src, index, dim, n, "max").index_select(dim, index)
    weights = (src - top).exp()
    return weights / (scatter(weights, index, dim, n, "sum").index_select(dim, index) + 1e-16)


def glorot(value):
    if value is not None:
        nn.init.xavier_uniform_(value.view(-1, value.shape[-1]))


def zeros(value):
    if value is not None:
        nn.init.zeros_(value)


def ones(value):
    if value is not None:
        nn.init.ones_(value)


def uniform(size, value):
    if value is not None:
        nn.init.uniform_(value, -(size**-0.5), size**-0.5)


def reset(value):
    for module in value.modules() if isinstance(value, nn.Module) else ():
        if module is not value and hasattr(module, "reset_parameters"):
            module.reset_parameters()


def global_add_pool(x, batch, size=None):
    return x.sum(0, keepdim=True) if batch is None else scatter(x, batch, 0, size, "sum")


def global_mean_pool(x, batch, size=None):
    return x.mean(0, keepdim=True) if batch is None else scatter(x, batch, 0, size, "mean")


def global_max_pool(x, batch, size=None):
    return x.max(0, keepdim=True)[0] if batch is None else scatter(x, batch, 0, size, "max")


def gcn_norm(edge_index, edge_weight=None, num_nodes=None, improved=False, add_self_loops=True, dtype=None):
    n = maybe_num_nodes(edge_index, num_nodes)
    weight = torch.ones(edge_index.size(1)) if edge_weight is None else edge_weight
    if add_self_loops:
        loops = torch.arange(n).unsqueeze(0).repeat(2, 1)
        edge_index = torch.cat([edge_index, loops], dim=1)
        weight = torch.cat([weight, weight.new_full((n,), 2.0 if improved else 1.0)])
    row, col = edge_index
    inverse = scatter(weight, col, 0, n).clamp(min=1e-12).pow(-0.5)
    return edge_index, inverse[row] * weight * inverse[col]


class GCNConv(MessagePassing):
    def __init__(
        self,
        in_channels,
        out_channels,
        improved=False,
        cached=False,
        add_self_loops=True,
        normalize=True,
        bias=True,
        **kwargs,
    ):
        super().__init__(aggr="add")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.improved, self.add_self_loops, self.normalize = improved, add_self_loops, normalize
        self.lin = nn.Linear(in_channels, out_channels, bias=False)
        self.bias = Parameter(torch.zeros(out_channels)) if bias else None

    def forward(self, x, edge_index, edge_weight=None):
        if self.normalize:
            edge_index, edge_weight = gcn_norm(edge_index, edge_weight, x.size(0), self.improved, self.add_self_loops)
        out = self.propagate(edge_index, x=self.lin(x), edge_weight=edge_weight)
        return out if self.bias is None else out + self.bias

    def message(self, x_j, edge_weight):
        return x_j if edge_weight is None else edge_weight.view(-1, 1) * x_j


class SAGEConv(MessagePassing):
    def __init__(self, in_channels, out_channels, aggr="mean", normalize=False, root_weight=True, bias=True, **kwargs):
        super().__init__(aggr=aggr)
        self.normalize, self.root_weight = normalize, root_weight
        self.lin_l = nn.Linear(in_channels, out_channels, bias=bias)
        self.lin_r = nn.Linear(in_channels, out_channels, bias=False)

    def forward(self, x, edge_index):
        out = self.lin_l(self.propagate(edge_index, x=x))
        out = out + self.lin_r(x) if self.root_weight else out
        return F.normalize(out, p=2.0, dim=-1) if self.normalize else out


class GINConv(MessagePassing):
    def __init__(self, nn, eps=0.0, train_eps=False, **kwargs):
        super().__init__(aggr="add")
        self.nn = nn
        self.eps = Parameter(torch.tensor([float(eps)])) if train_eps else eps

    def forward(self, x, edge_index):
        return self.nn(self.propagate(edge_index, x=x) + (1 + self.eps) * x)


class EdgeConv(MessagePassing):
    def __init__(self, nn, aggr="max", **kwargs):
        super().__init__(aggr=aggr)
        self.nn = nn

    def forward(self, x, edge_index):
        return self.propagate(edge_index, x=x)

    def message(self, x_i, x_j):
        return self.nn(torch.cat([x_i, x_j - x_i], dim=-1))


class GATConv(MessagePassing):
    def __init__(
        self,
        in_channels,
        out_channels,
        heads=1,
        concat=True,
        negative_slope=0.2,
        dropout=0.0,
        add_self_loops=True,
        bias=True,
        **kwargs,
    ):
        super().__init__(aggr="add", node_dim=0)
        self.heads, self.out_channels, self.concat = heads, out_channels, concat
        self.negative_slope, self.dropout, self.add_self_loops = negative_slope, dropout, add_self_loops
        self.lin = nn.Linear(in_channels, heads * out_channels, bias=False)
        self.att_src = Parameter(torch.randn(1, heads, out_channels) * 0.1)
        self.att_dst = Parameter(torch.randn(1, heads, out_channels) * 0.1)
        self.bias = Parameter(torch.zeros(heads * out_channels if concat else out_channels)) if bias else None

    def forward(self, x, edge_index):
        h = self.lin(x).view(-1, self.heads, self.out_channels)
        if self.add_self_loops:
            loops = torch.arange(x.size(0)).unsqueeze(0).repeat(2, 1)
            edge_index = torch.cat([edge_index, loops], dim=1)
        alpha = ((h * self.att_src).sum(-1), (h * self.att_dst).sum(-1))
        out = self.propagate(edge_index, x=h, alpha=alpha)
        out = out.flatten(1) if self.concat else out.mean(dim=1)
        return out if self.bias is None else out + self.bias

    def message(self, x_j, alpha_j, alpha_i, index, dim_size):
        alpha = softmax(F.leaky_relu(alpha_j + alpha_i, self.negative_slope), index, num_nodes=dim_size)
        return x_j * F.dropout(alpha, self.dropout, self.training).unsqueeze(-1)
