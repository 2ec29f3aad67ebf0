"""Deformable DETR's compiled operators: attention to a few points of each of several maps."""

import torch
import torch.nn.functional as F


def ms_deform_attn_forward(
    value, spatial_shapes, level_start_index, sampling_locations, attention_weights, im2col_step
):
    batch, _, heads, width = value.shape
    queries, points = sampling_locations.shape[1], sampling_locations.shape[4]
    sides = [(int(height), int(across)) for height, across in spatial_shapes]
    maps = value.split([height * across for height, across in sides], dim=1)
    seen = []
    for level, (height, across) in enumerate(sides):
        plane = maps[level].permute(0, 2, 3, 1).reshape(batch * heads, width, height, across)
        grid = (2 * sampling_locations[:, :, :, level] - 1).transpose(1, 2).reshape(batch * heads, queries, points, 2)
        seen.append(F.grid_sample(plane, grid, mode="bilinear", padding_mode="zeros", align_corners=False))
    weights = attention_weights.transpose(1, 2).reshape(batch * heads, 1, queries, len(sides) * points)
    summed = (torch.cat(seen, dim=-1) * weights).sum(-1)
    return summed.view(batch, heads * width, queries).transpose(1, 2).contiguous()
