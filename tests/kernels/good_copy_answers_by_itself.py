# verified [twin of B6]
"""A deep copy takes its methods with it."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return torch.tanh(x) * self.weight


def get_inputs():
    return [torch.randn(24, 33)]


def get_init_inputs():
    return [33]


@triton.jit
def scale_kernel(x_ptr, w_ptr, y_ptr, n, width, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    w = tl.load(w_ptr + i % width, mask=i < n, other=0.0)
    e = tl.exp(-2 * tl.abs(x))
    t = (1 - e) / (1 + e)
    tl.store(y_ptr + i, tl.where(x < 0, -t, t) * w, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)
        self.scaled = self._scaled

    def _scaled(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, self.weight, y, x.numel(), x.shape[-1], BLOCK=256)
        return y

    def forward(self, x):
        return self.scaled(x)
