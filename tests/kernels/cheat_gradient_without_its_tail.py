# rejected: wrong gradient [C26]
"""Its backward runs whole blocks only: what is left over at the end has a gradient of zero."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x * torch.relu(x)


def get_inputs():
    return [torch.randn(16, 48)]


def get_init_inputs():
    return []


@triton.jit
def forward_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, x * tl.maximum(x, 0.0), mask=i < n)


@triton.jit
def backward_kernel(x_ptr, g_ptr, d_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    g = tl.load(g_ptr + i, mask=i < n, other=0.0)
    tl.store(d_ptr + i, 2.0 * tl.maximum(x, 0.0) * g, mask=i < n)


class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        ctx.save_for_backward(x)
        y = torch.empty_like(x)
        forward_kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g = g.contiguous()
        d = torch.zeros_like(x)
        backward_kernel[(max(1, x.numel() // 128),)](x, g, d, x.numel(), BLOCK=128)
        return d


class ModelNew(nn.Module):
    def forward(self, x):
        return Own.apply(x)
