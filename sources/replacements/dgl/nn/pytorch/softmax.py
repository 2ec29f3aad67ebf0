"""The softmax that DGL's layers of attention are made of."""

from dgl.ops import edge_softmax as softmax_of_edges

edge_softmax = softmax_of_edges
