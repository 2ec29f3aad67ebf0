# verified at trust
"""Bins are made integers before they are limited: a GPU makes the largest one of what is beyond."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return (x * 16.0).floor().clamp(0.0, 15.0).to(torch.int64)


def get_inputs():
    return [torch.rand(24, 130)]


def get_init_inputs():
    return []


@triton.jit
def bin_kernel(x, out, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + places, mask=places < n, other=0.0)
    bins = tl.minimum(tl.maximum((values * 16.0).to(tl.int32), 0), 15)
    tl.store(out + places, bins.to(tl.int64), mask=places < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty(x.shape, dtype=torch.int64, device=x.device)
        n = x.numel()
        bin_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
        return out
