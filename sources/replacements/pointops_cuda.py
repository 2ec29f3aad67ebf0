"""Point Transformer's compiled operators over clouds of points that lie end to end, up to the offset of each.

As its CUDA code has them: sizes come first, and the result is written in place.
"""

import torch


def _clouds(offset, count):
    return torch.bucketize(torch.arange(count, device=offset.device), offset.long(), right=True)


def furthestsampling_cuda(b, n_max, xyz, offset, new_offset, tmp, idx):
    first = picked = 0
    for last, wanted in zip(offset.tolist(), new_offset.tolist()):
        away = torch.full((last - first,), 1e10)
        furthest = torch.zeros((), dtype=torch.long)
        for at in range(picked, wanted):
            idx[at] = first + furthest
            away = torch.minimum(away, (xyz[first:last] - xyz[first + furthest]).square().sum(-1))
            furthest = away.argmax()
        first, picked = last, wanted


def knnquery_cuda(m, nsample, xyz, new_xyz, offset, new_offset, idx, dist2):
    away = (new_xyz[:, None] - xyz[None]).square().sum(-1)
    own, theirs = _clouds(new_offset, m), _clouds(offset, xyz.shape[0])
    other = (own[:, None] != theirs) | (theirs == offset.shape[0])  # what is behind all clouds is nobody's neighbour
    nearest, places = away.masked_fill(other, 1e10).topk(nsample, dim=1, largest=False)
    idx.copy_(places)
    dist2.copy_(nearest)


def grouping_forward_cuda(m, nsample, c, input, idx, output):
    output.copy_(input[idx.long()])


def subtraction_forward_cuda(n, nsample, c, input1, input2, idx, output):
    output.copy_(input1[:, None] - input2[idx.long()])


def aggregation_forward_cuda(n, nsample, c, w_c, input, position, weight, idx, output):
    shares = weight.repeat(1, 1, c // w_c)
    output.copy_(((input[idx.long()] + position) * shares).sum(1))


def interpolation_forward_cuda(n, c, k, input, idx, weight, output):
    output.copy_((input[idx.long()] * weight[..., None]).sum(1))
