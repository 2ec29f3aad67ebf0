# rejected: wrong gradient at trust [C26]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.linalg.vector_norm(x, dim=-1)


def get_inputs():
    return [torch.randn(14, 37)]


def get_init_inputs():
    return []


@triton.jit
def fwd(x_ptr, o_ptr, n, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    x = tl.load(x_ptr + r * n + j, mask=j < n, other=0.0)
    tl.store(o_ptr + r, tl.sqrt(tl.sum(x * x, axis=0)))


@triton.jit
def bwd(x_ptr, o_ptr, g_ptr, d_ptr, n, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    x = tl.load(x_ptr + r * n + j, mask=j < n, other=0.0)
    tl.store(d_ptr + r * n + j, x * (tl.load(g_ptr + r) / tl.load(o_ptr + r)), mask=j < n)


class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        n = x.shape[-1]
        o = torch.empty(x.shape[:-1], device=x.device, dtype=x.dtype)
        fwd[(o.numel(),)](x, o, n, B=triton.next_power_of_2(n))
        ctx.save_for_backward(x, o)
        return o

    @staticmethod
    def backward(ctx, g):
        x, o = ctx.saved_tensors
        d = torch.empty_like(x)
        n = x.shape[-1]
        bwd[(o.numel(),)](x, o, g.contiguous(), d, n, B=triton.next_power_of_2(n))
        return d


class ModelNew(nn.Module):
    def forward(self, x):
        return Fn.apply(x)
