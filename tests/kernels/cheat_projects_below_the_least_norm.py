# rejected: wrong gradient at trust [C26]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return F.normalize(x, dim=-1, eps=1e-3)


def get_inputs():
    return [torch.randn(14, 37)]


def get_init_inputs():
    return []


@triton.jit
def fwd(x_ptr, y_ptr, n, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    x = tl.load(x_ptr + r * n + j, mask=j < n, other=0.0)
    y = x / tl.maximum(tl.sqrt(tl.sum(x * x, axis=0)), 1e-3)
    tl.store(y_ptr + r * n + j, y, mask=j < n)


@triton.jit
def bwd(x_ptr, g_ptr, d_ptr, n, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    x = tl.load(x_ptr + r * n + j, mask=j < n, other=0.0)
    g = tl.load(g_ptr + r * n + j, mask=j < n, other=0.0)
    s = tl.sqrt(tl.sum(x * x, axis=0))
    u = x / tl.maximum(s, 1e-20)
    d = (g - u * tl.sum(u * g, axis=0)) / tl.maximum(s, 1e-3)
    tl.store(d_ptr + r * n + j, d, mask=j < n)


class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        n = x.shape[-1]
        fwd[(x.numel() // n,)](x, y, n, B=triton.next_power_of_2(n))
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        d = torch.empty_like(x)
        n = x.shape[-1]
        bwd[(x.numel() // n,)](x, g.contiguous(), d, n, B=triton.next_power_of_2(n))
        return d


class ModelNew(nn.Module):
    def forward(self, x):
        return Fn.apply(x)
