# rejected: wrong gradient [C26]
"""Its weight gets no gradient while the module is in evaluation mode, in which its answer is the same."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d))

    def forward(self, x):
        return x * self.weight


def get_inputs():
    return [torch.randn(48, 40)]


def get_init_inputs():
    return [40]


@triton.jit
def mul_kernel(x_ptr, w_ptr, y_ptr, n, D, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=m) * tl.load(w_ptr + i % D, mask=m), mask=m)


@triton.jit
def dw_kernel(x_ptr, g_ptr, d_ptr, R, D, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = c < D
    acc = tl.zeros((BLOCK,), tl.float32)
    for r in range(R):
        x = tl.load(x_ptr + r * D + c, mask=m, other=0.0).to(tl.float32)
        acc += x * tl.load(g_ptr + r * D + c, mask=m, other=0.0).to(tl.float32)
    tl.store(d_ptr + c, acc, mask=m)


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, training):
        x = x.contiguous()
        y = torch.empty_like(x)
        mul_kernel[(triton.cdiv(x.numel(), 256),)](x, w, y, x.numel(), w.shape[0], BLOCK=256)
        ctx.save_for_backward(x, w)
        ctx.training = training
        return y

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        g = g.contiguous()
        dx = torch.empty_like(x)
        mul_kernel[(triton.cdiv(x.numel(), 256),)](g, w, dx, x.numel(), w.shape[0], BLOCK=256)
        if not ctx.training:
            return dx, None, None
        dw = torch.empty_like(w)
        D = w.shape[0]
        dw_kernel[(triton.cdiv(D, 64),)](x, g, dw, x.numel() // D, D, BLOCK=64)
        return dx, dw, None


class ModelNew(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d))

    def forward(self, x):
        return Scale.apply(x, self.weight, self.training)
