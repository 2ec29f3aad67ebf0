# rejected: wrong gradient at trust [C26]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, w):
        return x * torch.sigmoid(w)


def get_inputs():
    return [torch.randn(20, 30), torch.randn(20, 30)]


def get_init_inputs():
    return []


@triton.jit
def forward_kernel(x_ptr, w_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    w = tl.load(w_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, x * tl.sigmoid(w), mask=i < n)


@triton.jit
def backward_kernel(x_ptr, w_ptr, y_ptr, g_ptr, dx_ptr, dw_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    w = tl.load(w_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    g = tl.load(g_ptr + i, mask=i < n, other=0.0)
    s = tl.sigmoid(w)
    tl.store(dx_ptr + i, g * s, mask=i < n)
    tl.store(dw_ptr + i, g * y * (1.0 - s), mask=i < n)


class Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        x, w = x.contiguous(), w.contiguous()
        y = torch.empty_like(x)
        forward_kernel[(triton.cdiv(x.numel(), 128),)](x, w, y, x.numel(), BLOCK=128)
        ctx.save_for_backward(x, w)
        ctx.y = y
        return y

    @staticmethod
    def backward(ctx, g):
        (x, w), y = ctx.saved_tensors, ctx.y
        g = g.contiguous()
        dx, dw = torch.empty_like(x), torch.empty_like(w)
        backward_kernel[(triton.cdiv(x.numel(), 128),)](x, w, y, g, dx, dw, x.numel(), BLOCK=128)
        return dx, dw


class ModelNew(nn.Module):
    def forward(self, x, w):
        return Gated.apply(x, w)
