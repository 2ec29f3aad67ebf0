"""The compiled chamfer distance as GRNet and what follows it call it: it answers with distances and places."""

import chamfer_3D
import torch


def forward(xyz1, xyz2):
    (batch, n), m = xyz1.shape[:2], xyz2.shape[1]
    dist1, dist2 = xyz1.new_zeros(batch, n), xyz1.new_zeros(batch, m)
    idx1, idx2 = (torch.zeros(batch, k, dtype=torch.int32) for k in (n, m))
    chamfer_3D.forward(xyz1, xyz2, dist1, dist2, idx1, idx2)
    return dist1, dist2, idx1, idx2


def backward(xyz1, xyz2, idx1, idx2, graddist1, graddist2):
    gradxyz1, gradxyz2 = torch.zeros_like(xyz1), torch.zeros_like(xyz2)
    chamfer_3D.backward(xyz1, xyz2, gradxyz1, gradxyz2, graddist1, graddist2, idx1, idx2)
    return gradxyz1, gradxyz2
