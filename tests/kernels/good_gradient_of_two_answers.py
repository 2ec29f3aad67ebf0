# verified [twin of C26]
"""Of two answers either may be followed back alone."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.sin(x), x * x


def get_inputs():
    return [torch.randn(24, 33)]


def get_init_inputs():
    return []


@triton.jit
def both_kernel(x_ptr, s_ptr, q_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(s_ptr + i, tl.sin(x), mask=i < n)
    tl.store(q_ptr + i, x * x, mask=i < n)


@triton.jit
def derive_kernel(x_ptr, gs_ptr, gq_ptr, d_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    gs = tl.load(gs_ptr + i, mask=i < n, other=0.0)
    gq = tl.load(gq_ptr + i, mask=i < n, other=0.0)
    tl.store(d_ptr + i, gs * tl.cos(x) + 2 * x * gq, mask=i < n)


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        ctx.save_for_backward(x)
        s, q = torch.empty_like(x), torch.empty_like(x)
        both_kernel[(triton.cdiv(x.numel(), 256),)](x, s, q, x.numel(), BLOCK=256)
        return s, q

    @staticmethod
    def backward(ctx, gs, gq):
        (x,) = ctx.saved_tensors
        gs, gq, d = gs.contiguous(), gq.contiguous(), torch.empty_like(x)
        derive_kernel[(triton.cdiv(x.numel(), 256),)](x, gs, gq, d, x.numel(), BLOCK=256)
        return d


class ModelNew(nn.Module):
    def forward(self, x):
        return Both.apply(x)
