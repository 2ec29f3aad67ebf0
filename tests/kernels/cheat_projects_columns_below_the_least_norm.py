# rejected: wrong gradient at trust [C26]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return F.normalize(x, dim=0, eps=1e-3)


def get_inputs():
    return [torch.randn(14, 37)]


def get_init_inputs():
    return []


@triton.jit
def fwd(x_ptr, y_ptr, n, c, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    x = tl.load(x_ptr + j * c + r, mask=j < n, other=0.0)
    y = x / tl.maximum(tl.sqrt(tl.sum(x * x, axis=0)), 1e-3)
    tl.store(y_ptr + j * c + r, y, mask=j < n)


@triton.jit
def bwd(x_ptr, g_ptr, d_ptr, n, c, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    x = tl.load(x_ptr + j * c + r, mask=j < n, other=0.0)
    g = tl.load(g_ptr + j * c + r, mask=j < n, other=0.0)
    s = tl.sqrt(tl.sum(x * x, axis=0))
    u = x / tl.maximum(s, 1e-20)
    d = (g - u * tl.sum(u * g, axis=0)) / tl.maximum(s, 1e-3)
    tl.store(d_ptr + j * c + r, d, mask=j < n)


class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        n, c = x.shape
        fwd[(c,)](x, y, n, c, B=triton.next_power_of_2(n))
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        d = torch.empty_like(x)
        n, c = x.shape
        bwd[(c,)](x, g.contiguous(), d, n, c, B=triton.next_power_of_2(n))
        return d


class ModelNew(nn.Module):
    def forward(self, x):
        return Fn.apply(x)
