# verified at trust [twin of C15]
"""The reference changes its input in place on its way, and sets a part of it: no kernel needs to."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.act(x)
        x[:, 0] = 0.5
        x[:, 1] = x[:, 1] * 2.0
        return x * 3.0


def get_inputs():
    return [torch.randn(24, 40)]


def get_init_inputs():
    return []


@triton.jit
def chain_kernel(x_ptr, y_ptr, n, D, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.maximum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0.0)
    x = tl.where(i % D == 0, 0.5, x)
    x = tl.where(i % D == 1, x * 2.0, x)
    tl.store(y_ptr + i, x * 3.0, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        chain_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), x.shape[1], BLOCK=256)
        return y
