# rejected: wrong gradient at trust [C26]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.drop = nn.Dropout(p)

    def forward(self, x, residual):
        return self.drop(torch.relu(x)) + residual


def get_inputs():
    return [torch.randn(24, 50), torch.randn(24, 50)]


def get_init_inputs():
    return [0.2]


@triton.jit
def forward_kernel(x_ptr, r_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.maximum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0.0)
    x = tl.where(tl.rand(seed, i) >= p, x / (1.0 - p), 0.0)
    tl.store(y_ptr + i, x + tl.load(r_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def backward_kernel(x_ptr, g_ptr, d_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(g_ptr + i, mask=i < n, other=0.0)
    g = tl.where(tl.load(x_ptr + i, mask=i < n, other=0.0) > 0.0, g, 0.0)
    tl.store(d_ptr + i, g, mask=i < n)


class Dropped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, residual, p):
        x, residual = x.contiguous(), residual.contiguous()
        y = torch.empty_like(x)
        ctx.seed = int(torch.randint(0, 2**31 - 1, ()).item()) if p > 0 else 0
        ctx.p = p
        ctx.save_for_backward(x)
        forward_kernel[(triton.cdiv(x.numel(), 256),)](x, residual, y, x.numel(), p, ctx.seed, BLOCK=256)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g = g.contiguous()
        d = torch.empty_like(x)
        backward_kernel[(triton.cdiv(x.numel(), 256),)](x, g, d, x.numel(), ctx.p, ctx.seed, BLOCK=256)
        return d, g, None


class ModelNew(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, residual):
        return Dropped.apply(x, residual, self.p if self.training else 0.0)
