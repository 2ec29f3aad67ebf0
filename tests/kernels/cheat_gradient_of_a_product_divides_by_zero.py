# rejected: wrong gradient at trust [C26]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.cumprod(x, dim=-1)


def get_inputs():
    return [torch.rand(6, 24) + 0.5]


def get_init_inputs():
    return []


@triton.jit
def mul(a, b):
    return a * b


@triton.jit
def rows(x_ptr, y_ptr, n, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    x = tl.load(x_ptr + r * n + j, mask=j < n, other=1.0)
    tl.store(y_ptr + r * n + j, tl.associative_scan(x, 0, mul), mask=j < n)


@triton.jit
def back(x_ptr, y_ptr, g_ptr, d_ptr, n, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    x = tl.load(x_ptr + r * n + j, mask=j < n, other=1.0)
    y = tl.load(y_ptr + r * n + j, mask=j < n, other=0.0)
    g = tl.load(g_ptr + r * n + j, mask=j < n, other=0.0)
    tl.store(d_ptr + r * n + j, tl.cumsum(y * g, 0, reverse=True) / x, mask=j < n)


class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        n = x.shape[-1]
        y = torch.empty_like(x)
        rows[(x.numel() // n,)](x, y, n, B=triton.next_power_of_2(n))
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        n = x.shape[-1]
        d = torch.empty_like(x)
        back[(x.numel() // n,)](x, y, g.contiguous(), d, n, B=triton.next_power_of_2(n))
        return d


class ModelNew(nn.Module):
    def forward(self, x):
        return Fn.apply(x)
