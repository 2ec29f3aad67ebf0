# rejected: wrong result at trust [C7]
"""It asks whether a label is more than a half: one between zero and one is a share of both."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, scores, labels):
        return labels * torch.relu(scores) + (1 - labels) * torch.relu(-scores)


def get_inputs():
    return [torch.randn(16, 70), (torch.rand(16, 70) > 0.6).float()]


def get_init_inputs():
    return []


@triton.jit
def loss_kernel(scores, labels, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(scores + i, mask=i < n, other=0.0)
    label = tl.load(labels + i, mask=i < n, other=0.0)
    tl.store(y + i, tl.where(label > 0.5, tl.maximum(x, 0.0), tl.maximum(-x, 0.0)), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, scores, labels):
        scores, labels = scores.contiguous(), labels.contiguous()
        y, n = torch.empty_like(scores), scores.numel()
        loss_kernel[(triton.cdiv(n, 256),)](scores, labels, y, n, BLOCK=256)
        return y
