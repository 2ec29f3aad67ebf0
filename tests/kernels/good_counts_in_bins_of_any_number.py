# verified at trust [twin of C4]
"""The reference makes integers of numbers before it limits them: beyond all integers it says nothing."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.bins = bins

    def forward(self, x):
        idx = (x * self.bins).long().clamp(0, self.bins - 1)
        return torch.bincount(idx.flatten(), minlength=self.bins)


def get_inputs():
    return [torch.rand(30, 40)]


def get_init_inputs():
    return [10]


@triton.jit
def hist_kernel(x_ptr, o_ptr, n, bins, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    x = tl.load(x_ptr + i, mask=m, other=0.0)
    b = (x * bins).to(tl.int64)
    b = tl.minimum(tl.maximum(b, 0), bins - 1)
    tl.atomic_add(o_ptr + b, tl.full((BLOCK,), 1, tl.int64), mask=m)


class ModelNew(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.bins = bins

    def forward(self, x):
        x = x.contiguous()
        out = torch.zeros(self.bins, device=x.device, dtype=torch.int64)
        hist_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), self.bins, BLOCK=256)
        return out
