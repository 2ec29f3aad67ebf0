# verified [twin of C26]
"""Shares add up to one whatever they are of: the gradient of their sum is what rounding leaves of nothing."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


def get_inputs():
    return [torch.randn(16, 48)]


def get_init_inputs():
    return []


@triton.jit
def share_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.program_id(0) * n + i
    x = tl.load(x_ptr + at, mask=i < n, other=float("-inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + at, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def derive_kernel(y_ptr, g_ptr, d_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.program_id(0) * n + i
    y = tl.load(y_ptr + at, mask=i < n, other=0.0)
    g = tl.load(g_ptr + at, mask=i < n, other=0.0)
    tl.store(d_ptr + at, y * (g - tl.sum(y * g, 0)), mask=i < n)


class Shares(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        n = x.shape[-1]
        share_kernel[(x.numel() // n,)](x, y, n, BLOCK=triton.next_power_of_2(n))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        d = torch.empty_like(y)
        n = y.shape[-1]
        derive_kernel[(y.numel() // n,)](y, g.contiguous(), d, n, BLOCK=triton.next_power_of_2(n))
        return d


class ModelNew(nn.Module):
    def forward(self, x):
        return Shares.apply(x)
