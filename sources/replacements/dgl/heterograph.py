"""A graph as message passing sees it, each node with as many neighbours: then all sizes follow from its tensors."""

import torch


class Frame(dict):
    """Features by name; whoever sets one learns at once where it has not one row for each node, or edge."""

    def __init__(self, rows, values=None):
        super().__init__(values or {})
        self.rows = rows

    def __setitem__(self, name, value):
        if value.shape[0] != self.rows:
            raise ValueError(f"Expect number of features to match {self.rows} rows. Got {value.shape[0]} instead.")
        super().__setitem__(name, value)

    def update(self, values):
        for name, value in values.items():
            self[name] = value


class Gathered:
    def __init__(self, frame, index):
        self.frame = frame
        self.index = index

    def __getitem__(self, name):
        return self.frame[name][self.index]

    def __contains__(self, name):
        return name in self.frame


class Batch:
    def __init__(self, graph, **parts):
        self.graph = graph
        self.__dict__.update(parts)

    def edges(self):
        return self.graph.edges("all")

    def nodes(self):
        return self.graph.nodes()

    def batch_size(self):
        return self.data.rows


class NeighbourGraph:
    def __init__(self, neighbours, ndata=None, edata=None):
        self.neighbours = neighbours
        self.n, self.k = neighbours.shape[0], neighbours.shape[-1]
        self.ndata = self.srcdata = self.dstdata = Frame(self.n, ndata)
        self.edata = Frame(self.n * self.k, edata)
        self.saved = []
        self.sent = {}
        self.device = neighbours.device
        self.batch_size = 1
        self.is_block = False

    def edges(self, form="uv", **order):
        source, target = self.neighbours.flatten(), self.nodes().repeat_interleave(self.k)
        return (
            (source, target, torch.arange(self.n * self.k, device=self.device)) if form == "all" else (source, target)
        )

    all_edges = edges

    def nodes(self):
        return torch.arange(self.n, device=self.device)

    def number_of_nodes(self, *kind):
        return self.n

    num_nodes = number_of_src_nodes = number_of_dst_nodes = num_src_nodes = num_dst_nodes = number_of_nodes
    __len__ = number_of_nodes

    def number_of_edges(self, *kind):
        return self.n * self.k

    num_edges = number_of_edges

    def batch_num_nodes(self, *kind):
        return torch.tensor([self.n], device=self.device)

    def batch_num_edges(self, *kind):
        return torch.tensor([self.n * self.k], device=self.device)

    def in_degrees(self, *nodes):
        return torch.full((self.n,), self.k, device=self.device)

    def out_degrees(self, *nodes):
        source = self.neighbours.flatten()
        return source.new_zeros(self.n).scatter_add(0, source, torch.ones_like(source))

    def adjacency_matrix(self, *transposed, **options):
        ones = torch.ones(self.n, self.k, device=self.device)
        return torch.zeros(self.n, self.n, device=self.device).scatter_add(1, self.neighbours, ones)

    adj = adjacency_matrix

    def local_var(self):
        return NeighbourGraph(self.neighbours, self.ndata, self.edata)

    clone = local_var

    def local_scope(self):
        self.saved.append((self.ndata, self.edata))
        self.ndata = self.srcdata = self.dstdata = Frame(self.n, self.ndata)
        self.edata = Frame(self.n * self.k, self.edata)
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.ndata, self.edata = self.saved.pop()
        self.srcdata = self.dstdata = self.ndata

    def to(self, *device, **options):
        return self

    int = long = to

    def set_n_initializer(self, *initializer, **options):
        pass

    set_e_initializer = set_n_initializer

    def with_self_loops(self):
        return NeighbourGraph(torch.cat([self.neighbours, self.nodes().unsqueeze(1)], dim=1), self.ndata)

    def messages(self, function):
        source, target = self.edges()
        nodes = self.ndata
        return function(Batch(self, src=Gathered(nodes, source), dst=Gathered(nodes, target), data=self.edata))

    def apply_edges(self, func, *edges, **options):
        self.edata.update(self.messages(func))

    def apply_nodes(self, func, *nodes, **options):
        self.ndata.update(func(Batch(self, data=self.ndata)))

    def send(self, edges=None, message_func=None, **options):
        self.sent = self.messages(message_func)

    def recv(self, nodes=None, reduce_func=None, apply_node_func=None, **options):
        mailbox = {name: value.unflatten(0, (self.n, self.k)) for name, value in self.sent.items()}
        self.ndata.update(reduce_func(Batch(self, data=self.ndata, mailbox=mailbox)))
        if apply_node_func is not None:
            self.apply_nodes(apply_node_func)

    def update_all(self, message_func, reduce_func, apply_node_func=None, **options):
        self.send(None, message_func)
        self.recv(None, reduce_func, apply_node_func)

    def send_and_recv(self, edges, message_func, reduce_func, apply_node_func=None, **options):
        self.update_all(message_func, reduce_func, apply_node_func)

    pull = send_and_recv
