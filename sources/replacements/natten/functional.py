"""NATTEN's attention of each place to those nearest to it, by gathering these.

At an edge the nearest ones are the first, or last, so many; with a dilation, only places that are multiples of it apart
see each other. What is new in a version stands beside what it was called before.
"""

import torch


def neighbours(length, kernel_size, dilation, device):
    """The places that each of a row sees, and where these are relative to it, from 0 on: both (length, kernel_size)."""
    place = torch.arange(length, device=device)
    own, group = place // dilation, place % dilation
    last = (length - 1 - group) // dilation + 1 - kernel_size
    first = (own - kernel_size // 2).clamp(min=0).minimum(last)
    seen = first[:, None] + torch.arange(kernel_size, device=device)
    return seen * dilation + group[:, None], seen - own[:, None] + kernel_size - 1


def each(value, count):
    return tuple(value) if isinstance(value, (tuple, list)) else (value or 1,) * count


def gathered(x, count, kernel_size, dilation):
    """(batch, heads, *sizes, width) as (batch, heads, *sizes, neighbours, width)."""
    sizes = x.shape[2:-1]
    for axis, (kernel, apart) in enumerate(zip(each(kernel_size, count), each(dilation, count))):
        seen, _ = neighbours(sizes[axis], kernel, apart, x.device)
        at = 2 + 2 * axis  # each axis before it has become two
        x = x.index_select(at, seen.reshape(-1)).unflatten(at, seen.shape)
    places, kernels = [2 + 2 * a for a in range(count)], [3 + 2 * a for a in range(count)]
    return x.permute(0, 1, *places, *kernels, x.dim() - 1).flatten(2 + count, 1 + 2 * count)


def qk(count, query, key, kernel_size, dilation=1, rpb=None):
    scores = (gathered(key, count, kernel_size, dilation) @ query.unsqueeze(-1)).squeeze(-1)
    if rpb is None:
        return scores
    kernels, bias = each(kernel_size, count), rpb
    for axis, (kernel, apart) in enumerate(zip(kernels, each(dilation, count))):
        _, relative = neighbours(query.shape[2 + axis], kernel, apart, query.device)
        at = 1 + 2 * axis
        bias = bias.index_select(at, relative.reshape(-1)).unflatten(at, relative.shape)
    order = [*(1 + 2 * a for a in range(count)), *(2 + 2 * a for a in range(count))]
    return scores + bias.permute(0, *order).flatten(1 + count)


def av(count, attention, value, kernel_size, dilation=1):
    return (attention.unsqueeze(-2) @ gathered(value, count, kernel_size, dilation)).squeeze(-2)


def whole(count, query, key, value, kernel_size, dilation=1, scale=None, rpb=None):
    """Of (batch, *sizes, heads, width), as versions from 0.17 on take it."""
    query, key, value = (x.movedim(-2, 1) for x in (query, key, value))
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    attention = qk(count, query * scale, key, kernel_size, dilation, rpb).softmax(-1)
    return av(count, attention, value, kernel_size, dilation).movedim(1, -2)


def na1d(query, key, value, kernel_size, dilation=1, is_causal=False, rpb=None, scale=None):
    assert not is_causal, "what comes later is not hidden here"
    return whole(1, query, key, value, kernel_size, dilation, scale, rpb)


def na2d(query, key, value, kernel_size, dilation=1, is_causal=False, rpb=None, scale=None):
    assert not is_causal, "what comes later is not hidden here"
    return whole(2, query, key, value, kernel_size, dilation, scale, rpb)


def na1d_qk(query, key, kernel_size, dilation=1, rpb=None):
    return qk(1, query, key, kernel_size, dilation, rpb)


def na1d_av(attn, value, kernel_size, dilation=1):
    return av(1, attn, value, kernel_size, dilation)


def na2d_qk(query, key, kernel_size, dilation=1, rpb=None):
    return qk(2, query, key, kernel_size, dilation, rpb)


def na2d_av(attn, value, kernel_size, dilation=1):
    return av(2, attn, value, kernel_size, dilation)


def natten1dqkrpb(query, key, rpb, kernel_size, dilation=1):
    return qk(1, query, key, kernel_size, dilation, rpb)


def natten2dqkrpb(query, key, rpb, kernel_size, dilation=1):
    return qk(2, query, key, kernel_size, dilation, rpb)


natten1dqk, natten2dqk, natten1dav, natten2dav = na1d_qk, na2d_qk, na1d_av, na2d_av
