# rejected: wrong gradient at trust [C26]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, p, z):
        z = z.detach()
        return -(p * z).sum(-1)


def get_inputs():
    return [torch.randn(8, 32), torch.randn(8, 32)]


def get_init_inputs():
    return []


@triton.jit
def dot(p, z, o, n, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    m = c < n
    a = tl.load(p + r * n + c, mask=m, other=0.0)
    b = tl.load(z + r * n + c, mask=m, other=0.0)
    tl.store(o + r, -tl.sum(a * b, 0))


@triton.jit
def scale(x, g, o, n, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    m = c < n
    tl.store(o + r * n + c, -tl.load(x + r * n + c, mask=m) * tl.load(g + r), mask=m)


class Dot(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p, z):
        p, z = p.contiguous(), z.contiguous()
        ctx.save_for_backward(p, z)
        o = torch.empty(p.shape[:-1], device=p.device, dtype=p.dtype)
        dot[(o.numel(),)](p, z, o, p.shape[-1], B=triton.next_power_of_2(p.shape[-1]))
        return o

    @staticmethod
    def backward(ctx, g):
        p, z = ctx.saved_tensors
        g = g.contiguous()
        dp, dz = torch.empty_like(p), torch.empty_like(z)
        n = p.shape[-1]
        scale[(g.numel(),)](z, g, dp, n, B=triton.next_power_of_2(n))
        scale[(g.numel(),)](p, g, dz, n, B=triton.next_power_of_2(n))
        return dp, dz


class ModelNew(nn.Module):
    def forward(self, p, z):
        return Dot.apply(p, z)
