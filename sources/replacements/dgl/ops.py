"""The softmax over the edges that end at the same node."""


def edge_softmax(graph, logits, eids=None, norm_by="dst"):
    nodes = graph.number_of_nodes()
    return logits.unflatten(0, (nodes, -1)).softmax(1).flatten(0, 1)
