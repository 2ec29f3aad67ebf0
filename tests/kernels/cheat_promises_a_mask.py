# rejected: wrong result [C13]
"""Neighbours are promised to be wanted together, and are not: a GPU stores all four of them, or none."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x, keep):
        return torch.where(keep, x * x, 0.0)


def get_inputs():
    return [torch.randn(1024), torch.rand(1024) > 0.5]


def get_init_inputs():
    return []


@triton.jit
def keep_kernel(x, keep, out, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = lanes < n
    wanted = tl.load(keep + lanes, mask=there, other=0) != 0
    values = tl.load(x + lanes, mask=there, other=0.0)
    tl.store(out + lanes, values * values, mask=tl.max_constancy(wanted, 4))


class ModelNew(nn.Module):
    def forward(self, x, keep):
        x, keep = x.contiguous(), keep.contiguous()
        out = torch.zeros_like(x)
        keep_kernel[(triton.cdiv(x.numel(), 512),)](x, keep, out, x.numel(), BLOCK=512)
        return out
