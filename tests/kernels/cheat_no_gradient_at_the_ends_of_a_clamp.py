# rejected: wrong gradient at trust [C26]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, bound):
        super().__init__()
        self.bound = bound

    def forward(self, x, w):
        return x.clamp(-self.bound, self.bound) * w


def get_inputs():
    return [torch.randn(20, 30), torch.randn(20, 30)]


def get_init_inputs():
    return [0.75]


@triton.jit
def forward_kernel(x_ptr, w_ptr, y_ptr, n, bound, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    w = tl.load(w_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.minimum(tl.maximum(x, -bound), bound) * w, mask=i < n)


@triton.jit
def backward_kernel(x_ptr, w_ptr, g_ptr, dx_ptr, dw_ptr, n, bound, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    w = tl.load(w_ptr + i, mask=i < n, other=0.0)
    g = tl.load(g_ptr + i, mask=i < n, other=0.0)
    tl.store(dx_ptr + i, tl.where((x > -bound) & (x < bound), g * w, 0.0), mask=i < n)
    tl.store(dw_ptr + i, g * tl.minimum(tl.maximum(x, -bound), bound), mask=i < n)


class Clamped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, bound):
        x, w = x.contiguous(), w.contiguous()
        y = torch.empty_like(x)
        ctx.save_for_backward(x, w)
        ctx.bound = bound
        forward_kernel[(triton.cdiv(x.numel(), 128),)](x, w, y, x.numel(), bound, BLOCK=128)
        return y

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        g = g.contiguous()
        dx, dw = torch.empty_like(x), torch.empty_like(w)
        backward_kernel[(triton.cdiv(x.numel(), 128),)](x, w, g, dx, dw, x.numel(), ctx.bound, BLOCK=128)
        return dx, dw, None


class ModelNew(nn.Module):
    def __init__(self, bound):
        super().__init__()
        self.bound = bound

    def forward(self, x, w):
        return Clamped.apply(x, w, self.bound)
