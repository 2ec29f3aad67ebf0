"""What pointnet2_ops.pointnet2_utils offers, on the operators of ``_ext``."""

import torch
from pointnet2_ops._ext import (
    ball_query as query_of_points,
)
from pointnet2_ops._ext import (
    furthest_point_sampling,
    gather_points,
    group_points,
)
from pointnet2_ops._ext import (
    three_interpolate as interpolate_of_three,
)
from pointnet2_ops._ext import (
    three_nn as nearest_three,
)
from torch import nn


def furthest_point_sample(xyz, npoint):
    return furthest_point_sampling(xyz, npoint)


def gather_operation(features, idx):
    return gather_points(features, idx)


def grouping_operation(features, idx):
    return group_points(features, idx)


def three_nn(unknown, known):
    squares, idx = nearest_three(unknown, known)
    return torch.sqrt(squares), idx


def three_interpolate(features, idx, weight):
    return interpolate_of_three(features, idx, weight)


def ball_query(radius, nsample, xyz, new_xyz):
    return query_of_points(new_xyz, xyz, radius, nsample)


class QueryAndGroup(nn.Module):
    def __init__(self, radius, nsample, use_xyz=True):
        super().__init__()
        self.radius, self.nsample, self.use_xyz = radius, nsample, use_xyz

    def forward(self, xyz, new_xyz, features=None):
        idx = ball_query(self.radius, self.nsample, xyz, new_xyz)
        grouped = grouping_operation(xyz.transpose(1, 2), idx) - new_xyz.transpose(1, 2).unsqueeze(-1)
        if features is None:
            return grouped
        features = grouping_operation(features, idx)
        return torch.cat([grouped, features], dim=1) if self.use_xyz else features


class GroupAll(nn.Module):
    def __init__(self, use_xyz=True):
        super().__init__()
        self.use_xyz = use_xyz

    def forward(self, xyz, new_xyz, features=None):
        grouped = xyz.transpose(1, 2).unsqueeze(2)
        if features is None:
            return grouped
        features = features.unsqueeze(2)
        return torch.cat([grouped, features], dim=1) if self.use_xyz else features
