"""The nearest neighbours of KNN_CUDA (github.com/unlimblue/KNN_CUDA), by torch's own distances.

Points are columns, (batch, features, points), unless ``transpose_mode`` lays them down as rows; neighbours likewise.
"""

import torch


def knn(ref, query, k):
    distances = torch.cdist(ref.transpose(-1, -2), query.transpose(-1, -2))  # from each of ref to each of query
    near = distances.topk(k, dim=-2, largest=False)
    return near.values, near.indices


class KNN(torch.nn.Module):
    def __init__(self, k, transpose_mode=False):
        super().__init__()
        self.k = k
        self._t = transpose_mode

    def forward(self, ref, query):
        assert ref.size(0) == query.size(0)
        with torch.no_grad():
            if self._t:
                ref, query = ref.transpose(1, 2), query.transpose(1, 2)
            found = knn(ref.float(), query.float(), self.k)
            return tuple((f.transpose(1, 2) if self._t else f).contiguous() for f in found)
