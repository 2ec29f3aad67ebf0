"""The compiled chamfer distance between clouds of points: of each point to the nearest of the other cloud, squared.

AtlasNet's fills what it is given, and counts as done with 1.
"""


def forward(xyz1, xyz2, dist1, dist2, idx1, idx2):
    away = (xyz1.unsqueeze(2) - xyz2.unsqueeze(1)).square().sum(-1)
    for axis, distances, places in ((2, dist1, idx1), (1, dist2, idx2)):
        nearest, where = away.min(axis)
        distances.copy_(nearest)
        places.copy_(where)
    return 1


def backward(xyz1, xyz2, gradxyz1, gradxyz2, graddist1, graddist2, idx1, idx2):
    for one, other, grad, grad_other, scale, idx in (
        (xyz1, xyz2, gradxyz1, gradxyz2, graddist1, idx1),
        (xyz2, xyz1, gradxyz2, gradxyz1, graddist2, idx2),
    ):
        places = idx.long().unsqueeze(-1).expand(-1, -1, one.shape[-1])
        change = 2 * scale.unsqueeze(-1) * (one - other.gather(1, places))
        grad.add_(change)
        grad_other.scatter_add_(1, places, -change)
    return 1
