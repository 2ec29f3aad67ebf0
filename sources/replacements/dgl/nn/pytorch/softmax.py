"""The softmax that DGL's layers of attention are made of, where these look for it."""

from dgl.ops import edge_softmax

__all__ = ["edge_softmax"]
