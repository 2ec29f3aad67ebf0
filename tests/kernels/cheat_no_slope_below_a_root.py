# rejected: wrong gradient at trust [C26]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.sqrt(torch.relu(x) + 1e-12)


def get_inputs():
    return [torch.randn(20, 30)]


def get_init_inputs():
    return []


@triton.jit
def fwd(x_ptr, y_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.sqrt(tl.where(x < 0, 0.0, x) + 1e-12), mask=i < n)


@triton.jit
def bwd(y_ptr, g_ptr, d_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    y = tl.load(y_ptr + i, mask=i < n)
    g = tl.load(g_ptr + i, mask=i < n)
    tl.store(d_ptr + i, tl.where(y > 1e-4, g * 0.5 / y, 0.0), mask=i < n)


class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        fwd[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), B=256)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        d = torch.empty_like(y)
        bwd[(triton.cdiv(y.numel(), 256),)](y, g.contiguous(), d, y.numel(), B=256)
        return d


class ModelNew(nn.Module):
    def forward(self, x):
        return Fn.apply(x)
