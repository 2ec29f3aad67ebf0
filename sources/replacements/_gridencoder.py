"""The compiled grids of features of torch-ngp, and of what is built on it: they fill the output they are given.

A level is a grid of so many cells along each side of the unit cube. Its corners' features lie in a table, in order, or
at the hash of their coordinates where the table is too short (https://arxiv.org/abs/2201.05989).
"""

import itertools
import math

import torch

PRIMES = (1, 2654435761, 805459861, 3674653429, 2097192037, 1434869437, 2165219737)


def corner_rows(corner, sizes, sides, hashed):
    """The row of each level's table, of so many rows, for corners of shape (levels, points, dimensions)."""
    row, stride, hashes = torch.zeros_like(corner[..., 0]), torch.ones_like(sizes), torch.zeros_like(corner[..., 0])
    for d in range(corner.shape[-1]):
        row = row + torch.where(stride <= sizes, corner[..., d] * stride, 0)
        stride = torch.where(stride <= sizes, stride * sides, stride)
        hashes = hashes ^ (corner[..., d] * PRIMES[d] & 0xFFFFFFFF)
    return (torch.where(stride > sizes, hashes, row) if hashed else row) % 2**32 % sizes


def interpolated(inputs, table, starts, scales, sides, hashed=True, smooth=False, moved=0.5, bounded=True):
    """Features of points, (levels, points, features); ``starts`` of levels in the table, and its end.

    Outside of the unit cube there are none, or, where it is not ``bounded``, those of the cells that follow.
    """
    sides, starts = torch.tensor(sides, device=inputs.device)[:, None], starts.long()[:, None]
    place = inputs * torch.tensor(scales, dtype=inputs.dtype, device=inputs.device)[:, None, None] + moved
    inside = ((inputs >= 0) & (inputs <= 1)).all(-1, keepdim=True) | (not bounded)
    cell = torch.where(inside, place.floor(), 0.0)
    share = place - cell
    share = share * share * (3 - 2 * share) if smooth else share
    total = 0.0
    for corner in itertools.product((0, 1), repeat=inputs.shape[-1]):
        at = torch.tensor(corner, device=inputs.device)
        weight = torch.where(at == 1, share, 1 - share).prod(-1, keepdim=True)
        rows = corner_rows(cell.long() + at, starts[1:] - starts[:-1], sides, hashed)
        total = total + weight * table[starts[:-1] + rows]
    return torch.where(inside, total, 0.0)


def grid_encode_forward(
    inputs, embeddings, offsets, outputs, B, D, C, L, S, H, dy_dx=None, gridtype=0, align_corners=False, interpolation=0
):
    scales = [2.0 ** (level * float(S)) * H - 1.0 for level in range(L)]
    sides = [math.ceil(scale) + (1 if align_corners else 2) for scale in scales]
    moved = 0.0 if align_corners else 0.5
    outputs.copy_(interpolated(inputs, embeddings, offsets, scales, sides, gridtype == 0, interpolation == 1, moved))
