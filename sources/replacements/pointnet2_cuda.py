"""PointNet++'s compiled operators as PointRCNN and what follows it call them: sizes first, the result in place."""

from pointnet2_ops._ext import (
    ball_query,
    furthest_point_sampling,
    gather_points,
    gather_points_grad,
    group_points,
    group_points_grad,
    three_interpolate,
    three_interpolate_grad,
    three_nn,
)


def furthest_point_sampling_wrapper(b, n, m, points, temp, idx):
    idx.copy_(furthest_point_sampling(points, m))


farthest_point_sampling_wrapper = furthest_point_sampling_wrapper  # as OpenPCDet calls it


def gather_points_wrapper(b, c, n, npoints, points, idx, out):
    out.copy_(gather_points(points, idx))


def gather_points_grad_wrapper(b, c, n, npoints, grad_out, idx, grad_points):
    grad_points.copy_(gather_points_grad(grad_out, idx, n))


def group_points_wrapper(b, c, n, npoints, nsample, points, idx, out):
    out.copy_(group_points(points, idx))


def group_points_grad_wrapper(b, c, n, npoints, nsample, grad_out, idx, grad_points):
    grad_points.copy_(group_points_grad(grad_out, idx, n))


def ball_query_wrapper(b, n, m, radius, nsample, new_xyz, xyz, idx):
    idx.copy_(ball_query(new_xyz, xyz, radius, nsample))


def three_nn_wrapper(b, n, m, unknown, known, dist2, idx):
    nearest, places = three_nn(unknown, known)
    dist2.copy_(nearest)
    idx.copy_(places)


def knn_wrapper(b, n, m, k, unknown, known, dist2, idx):
    away = (unknown.unsqueeze(2) - known.unsqueeze(1)).square().sum(-1)
    nearest, places = away.topk(k, dim=2, largest=False)
    dist2.copy_(nearest)
    idx.copy_(places)


def three_interpolate_wrapper(b, c, m, n, points, idx, weight, out):
    out.copy_(three_interpolate(points, idx, weight))


def three_interpolate_grad_wrapper(b, c, n, m, grad_out, idx, weight, grad_points):
    grad_points.copy_(three_interpolate_grad(grad_out, idx, weight, m))
