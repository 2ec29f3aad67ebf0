# rejected: wrong gradient [C26]
"""Its backward reads what is handed to it as if it lay in memory row by row; that of a sum is one number, expanded."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * x


def get_inputs():
    return [torch.randn(24, 33)]


def get_init_inputs():
    return []


@triton.jit
def square_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.maximum(x, 0.0) * x, mask=i < n)


@triton.jit
def derive_kernel(x_ptr, g_ptr, d_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    g = tl.load(g_ptr + i, mask=i < n, other=0.0)
    tl.store(d_ptr + i, 2.0 * tl.maximum(x, 0.0) * g, mask=i < n)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        ctx.save_for_backward(x)
        y = torch.empty_like(x)
        square_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        d = torch.empty_like(x)
        derive_kernel[(triton.cdiv(x.numel(), 256),)](x, g, d, x.numel(), BLOCK=256)
        return d


class ModelNew(nn.Module):
    def forward(self, x):
        return Square.apply(x)
