"""torch_scatter's reductions, by torch's own."""


def broadcast(index, src, dim):
    dim = dim + src.dim() if dim < 0 else dim
    if index.dim() == 1:
        index = index.view([-1 if i == dim else 1 for i in range(src.dim())])
    return index.expand_as(src), dim


def scatter(src, index, dim=-1, out=None, dim_size=None, reduce="sum"):
    index, dim = broadcast(index, src, dim)
    size = list(src.shape)
    size[dim] = dim_size if dim_size is not None else int(index.max()) + 1 if index.numel() else 0
    names = {"sum": "sum", "add": "sum", "mean": "mean", "max": "amax", "min": "amin", "mul": "prod"}
    return src.new_zeros(size).scatter_reduce(dim, index, src, names[reduce], include_self=False)


def scatter_add(src, index, dim=-1, out=None, dim_size=None):
    return scatter(src, index, dim, out, dim_size, "sum")


scatter_sum = scatter_add


def scatter_mean(src, index, dim=-1, out=None, dim_size=None):
    return scatter(src, index, dim, out, dim_size, "mean")


def scatter_max(src, index, dim=-1, out=None, dim_size=None):
    return scatter(src, index, dim, out, dim_size, "max"), index


def scatter_min(src, index, dim=-1, out=None, dim_size=None):
    return scatter(src, index, dim, out, dim_size, "min"), index


def scatter_softmax(src, index, dim=-1, dim_size=None):
    top = scatter(src, index, dim, None, dim_size, "max")
    wide, dim = broadcast(index, src, dim)
    weights = (src - top.gather(dim, wide)).exp()
    return weights / scatter(weights, index, dim, None, dim_size, "sum").gather(dim, wide)
