"""The softmax over the edges that end at the same node."""


def edge_softmax(graph, logits, eids=None, norm_by="dst"):
    if eids is not None or norm_by != "dst":
        raise NotImplementedError("some edges only, or a softmax over those that start at a node")
    nodes = graph.number_of_nodes()
    return logits.unflatten(0, (nodes, -1)).softmax(1).flatten(0, 1)
