# rejected: wrong gradient [C26]
"""Where its input is zero, as what came out of a relu often is, the gradient goes through."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return torch.relu(x) * self.weight


def get_inputs():
    return [torch.randn(24, 33)]


def get_init_inputs():
    return [33]


@triton.jit
def scale_kernel(x_ptr, w_ptr, y_ptr, n, width, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    w = tl.load(w_ptr + i % width, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.maximum(x, 0.0) * w, mask=i < n)


@triton.jit
def inputs_kernel(x_ptr, w_ptr, g_ptr, d_ptr, n, width, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    w = tl.load(w_ptr + i % width, mask=i < n, other=0.0)
    g = tl.load(g_ptr + i, mask=i < n, other=0.0)
    tl.store(d_ptr + i, tl.where(x >= 0, w * g, 0.0), mask=i < n)


@triton.jit
def weight_kernel(x_ptr, g_ptr, d_ptr, rows, width, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, rows, BLOCK):
        r = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + r * width + column, mask=r < rows, other=0.0)
        g = tl.load(g_ptr + r * width + column, mask=r < rows, other=0.0)
        total += tl.maximum(x, 0.0) * g
    tl.store(d_ptr + column, tl.sum(total, 0))


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        x = x.contiguous()
        ctx.save_for_backward(x, weight)
        y = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, weight, y, x.numel(), x.shape[-1], BLOCK=256)
        return y

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        g = g.contiguous()
        dx, dw, n, width = torch.empty_like(x), torch.empty_like(weight), x.numel(), x.shape[-1]
        inputs_kernel[(triton.cdiv(n, 256),)](x, weight, g, dx, n, width, BLOCK=256)
        weight_kernel[(width,)](x, g, dw, n // width, width, BLOCK=32)
        return dx, dw


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return Scale.apply(x, self.weight)
