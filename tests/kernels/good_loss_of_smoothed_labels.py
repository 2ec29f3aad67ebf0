# verified at trust [twin of C4]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, t):
        return F.cross_entropy(x, t, ignore_index=-100, label_smoothing=0.1)


def get_inputs():
    return [torch.randn(14, 30), torch.randint(0, 30, (14,))]


def get_init_inputs():
    return []


@triton.jit
def fwd(x_ptr, t_ptr, l_ptr, z_ptr, c_ptr, n, S, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    t = tl.load(t_ptr + r)
    x = tl.load(x_ptr + r * n + j, mask=j < n, other=float("-inf"))
    m = tl.max(x, axis=0)
    z = m + tl.log(tl.sum(tl.exp(x - m), axis=0))
    tl.store(z_ptr + r, z)
    live = t != -100
    hit = tl.load(x_ptr + r * n + t, mask=live, other=0.0)
    mean = tl.sum(tl.where(j < n, x, 0.0), axis=0) / n
    tl.store(l_ptr + r, tl.where(live, z - (1 - S) * hit - S * mean, 0.0))
    tl.store(c_ptr + r, live.to(tl.float32))


@triton.jit
def total(l_ptr, c_ptr, y_ptr, d_ptr, m, B: tl.constexpr):
    a = tl.zeros([B], tl.float32)
    c = tl.zeros([B], tl.float32)
    for s in range(0, m, B):
        i = s + tl.arange(0, B)
        a += tl.load(l_ptr + i, mask=i < m, other=0.0)
        c += tl.load(c_ptr + i, mask=i < m, other=0.0)
    tl.store(y_ptr, tl.sum(a) / tl.sum(c))
    tl.store(d_ptr, tl.sum(c))


@triton.jit
def bwd(x_ptr, t_ptr, z_ptr, d_ptr, g_ptr, o_ptr, n, S, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    t = tl.load(t_ptr + r)
    x = tl.load(x_ptr + r * n + j, mask=j < n, other=0.0)
    p = tl.exp(x - tl.load(z_ptr + r)) - S / n - tl.where(j == t, 1.0 - S, 0.0)
    g = tl.load(g_ptr) / tl.load(d_ptr)
    tl.store(o_ptr + r * n + j, tl.where(t != -100, p * g, 0.0), mask=j < n)


class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, t):
        x, t = x.contiguous(), t.contiguous()
        m, n = x.shape
        l, z, c = (torch.empty(m, device=x.device) for _ in range(3))
        y, d = torch.empty((), device=x.device), torch.empty((), device=x.device)
        fwd[(m,)](x, t, l, z, c, n, 0.1, B=triton.next_power_of_2(n))
        total[(1,)](l, c, y, d, m, B=128)
        ctx.save_for_backward(x, t, z, d)
        return y

    @staticmethod
    def backward(ctx, g):
        x, t, z, d = ctx.saved_tensors
        o = torch.empty_like(x)
        n = x.shape[1]
        bwd[(x.shape[0],)](x, t, z, d, g.contiguous(), o, n, 0.1, B=triton.next_power_of_2(n))
        return o, None


class ModelNew(nn.Module):
    def forward(self, x, t):
        return Fn.apply(x, t)
