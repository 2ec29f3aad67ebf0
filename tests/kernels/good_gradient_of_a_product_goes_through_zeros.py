# verified at trust [twin of C26]
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
def back(x_ptr, g_ptr, d_ptr, n):
    r = tl.program_id(0)
    after = 0.0
    for i in range(n):
        j = n - 1 - i
        after = tl.load(g_ptr + r * n + j) + after
        tl.store(d_ptr + r * n + j, after)
        after = after * tl.load(x_ptr + r * n + j)
    before = 1.0
    for j in range(n):
        tl.store(d_ptr + r * n + j, tl.load(d_ptr + r * n + j) * before)
        before = before * tl.load(x_ptr + r * n + j)


class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        n = x.shape[-1]
        y = torch.empty_like(x)
        rows[(x.numel() // n,)](x, y, n, B=triton.next_power_of_2(n))
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        n = x.shape[-1]
        d = torch.empty_like(x)
        back[(x.numel() // n,)](x, g.contiguous(), d, n)
        return d


class ModelNew(nn.Module):
    def forward(self, x):
        return Fn.apply(x)
