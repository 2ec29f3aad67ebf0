"""torch_cluster's nearest neighbours, by torch's own distances."""

import torch


def knn(x, y, k, batch_x=None, batch_y=None, cosine=False, num_workers=1, batch_size=None):
    if cosine:
        x, y = torch.nn.functional.normalize(x), torch.nn.functional.normalize(y)
    distances = torch.cdist(y, x)  # of unit vectors it grows as their cosine falls
    if batch_x is not None and batch_y is not None:
        distances = distances.masked_fill(batch_y[:, None] != batch_x[None, :], float("inf"))
    near = distances.topk(min(k, x.size(0)), dim=1, largest=False)
    rows = torch.arange(y.size(0), device=x.device)[:, None].expand_as(near.indices)
    found = near.values.isfinite()
    return torch.stack([rows[found], near.indices[found]])


def knn_graph(x, k, batch=None, loop=False, flow="source_to_target", cosine=False, num_workers=1, batch_size=None):
    rows, columns = knn(x, x, k if loop else k + 1, batch, batch, cosine)
    if not loop:
        rows, columns = rows[rows != columns], columns[rows != columns]
    return torch.stack([columns, rows] if flow == "source_to_target" else [rows, columns])
