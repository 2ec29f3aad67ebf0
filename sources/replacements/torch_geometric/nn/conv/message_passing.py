"""The base class of torch_geometric's layers; it takes that one's place where these are cut out of the package itself.

There it reads the signatures of methods from source text, and answers to compilers and explainers.
"""

import inspect

import torch
import torch.nn as nn


def scatter(src, index, dim=0, dim_size=None, reduce="sum"):
    size = list(src.shape)
    size[dim] = dim_size if dim_size is not None else int(index.max()) + 1
    shape = [-1 if i == dim % src.dim() else 1 for i in range(src.dim())]
    names = {"sum": "sum", "add": "sum", "mean": "mean", "max": "amax", "min": "amin", "mul": "prod"}
    wide = index.view(shape).expand_as(src)
    return src.new_zeros(size).scatter_reduce(dim, wide, src, names[reduce], include_self=False)


class MessagePassing(nn.Module):
    def __init__(self, aggr="add", *, aggr_kwargs=None, flow="source_to_target", node_dim=-2, **kwargs):
        super().__init__()
        self.aggr, self.flow, self.node_dim = aggr, flow, node_dim
        self.fuse = self.explain = False
        self.aggr_module = aggr if isinstance(aggr, nn.Module) else None

    def reset_parameters(self):
        pass

    def propagate(self, edge_index, *given_size, size=None, **kwargs):
        if isinstance(edge_index, str):  # older versions were told first how to aggregate, and nodes came first
            self.aggr, self.node_dim = edge_index, 0
            edge_index, *given_size = given_size
        values = self._collected(edge_index, given_size[0] if given_size else size, kwargs)
        messages = self.message(**values(self.message, 0))
        return self.update(self.aggregate(messages, **values(self.aggregate, 1)), **values(self.update, 1))

    def edge_updater(self, edge_index, size=None, **kwargs):
        return self.edge_update(**self._collected(edge_index, size, kwargs)(self.edge_update, 0))

    def _collected(self, edge_index, size, kwargs):
        i, j = (1, 0) if self.flow == "source_to_target" else (0, 1)
        n = size[i] if size is not None else None
        taken = [*inspect.signature(self.message).parameters, *inspect.signature(self.edge_update).parameters]
        nodes = [kwargs[name[:-2]] for name in taken if name[-2:] in ("_i", "_j") and name[:-2] in kwargs]
        for value in [*nodes, *kwargs.values()]:
            value = value[i] if isinstance(value, tuple) else value
            if n is None and isinstance(value, torch.Tensor):
                n = value.size(self.node_dim)
        known = {"index": edge_index[i], "edge_index": edge_index, "ptr": None, "dim_size": n, "size_i": n, **kwargs}

        def values(function, skip):
            found = {}
            for name, parameter in list(inspect.signature(function).parameters.items())[skip:]:
                if name in known:
                    found[name] = known[name]
                elif name[-2:] in ("_i", "_j"):
                    value, side = known.get(name[:-2]), i if name.endswith("_i") else j
                    value = value[side] if isinstance(value, tuple) else value
                    found[name] = None if value is None else value.index_select(self.node_dim, edge_index[side])
                elif parameter.default is parameter.empty:
                    raise TypeError(f"propagate was not given {name}")
            return found

        return values

    def message(self, x_j):
        return x_j

    def edge_update(self):
        raise NotImplementedError

    def aggregate(self, inputs, index, ptr=None, dim_size=None):
        if isinstance(self.aggr, nn.Module):
            return self.aggr(inputs, index, dim_size=dim_size, dim=self.node_dim)
        if isinstance(self.aggr, list | tuple):
            return torch.cat([scatter(inputs, index, self.node_dim, dim_size, a) for a in self.aggr], dim=-1)
        return scatter(inputs, index, self.node_dim, dim_size, self.aggr or "sum")

    def update(self, inputs):
        return inputs
