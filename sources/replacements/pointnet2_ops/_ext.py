"""The compiled operators of PointNet++ (pointnet2_ops), in torch: clouds are (batch, points, 3), features come last."""

import torch


def furthest_point_sampling(points, nsamples):
    chosen = [torch.zeros(points.size(0), dtype=torch.long, device=points.device)]
    nearest = points.new_full(points.shape[:2], 1e10)
    batch = torch.arange(points.size(0), device=points.device)
    for _ in range(nsamples - 1):
        away = (points - points[batch, chosen[-1]].unsqueeze(1)).square().sum(-1)
        nearest = torch.minimum(nearest, away)
        chosen.append(nearest.argmax(1))
    return torch.stack(chosen, 1).int()


def gather_points(points, idx):
    return points.gather(2, idx.long().unsqueeze(1).expand(-1, points.size(1), -1))


def gather_points_grad(grad_out, idx, n):
    places = idx.long().unsqueeze(1).expand_as(grad_out)
    return grad_out.new_zeros(*grad_out.shape[:2], n).scatter_add(2, places, grad_out)


def group_points(points, idx):
    return gather_points(points, idx.flatten(1)).unflatten(2, idx.shape[1:])


def group_points_grad(grad_out, idx, n):
    return gather_points_grad(grad_out.flatten(2), idx.flatten(1), n)


def ball_query(new_xyz, xyz, radius, nsample):
    away = (new_xyz.unsqueeze(2) - xyz.unsqueeze(1)).square().sum(-1)
    count = xyz.size(1)
    order = torch.arange(count, device=xyz.device).expand_as(away)
    found = order.masked_fill(away >= radius * radius, count).sort(-1)[0][..., :nsample]
    first = found[..., :1].remainder(count)  # where there is none at all, it is the first point
    return torch.where(found == count, first, found).int()


def three_nn(unknowns, knows):
    away = (unknowns.unsqueeze(2) - knows.unsqueeze(1)).square().sum(-1)
    nearest, idx = away.topk(3, dim=2, largest=False)
    return nearest, idx.int()


def three_interpolate(points, idx, weight):
    return (group_points(points, idx) * weight.unsqueeze(1)).sum(-1)


def three_interpolate_grad(grad_out, idx, weight, m):
    return group_points_grad(grad_out.unsqueeze(-1) * weight.unsqueeze(1), idx, m)
