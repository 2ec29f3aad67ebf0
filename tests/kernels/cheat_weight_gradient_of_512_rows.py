# rejected: wrong gradient at trust [C26]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(features) + 0.5)

    def forward(self, x):
        return x * self.weight


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return [64]


@triton.jit
def scale_kernel(x_ptr, w_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + c, mask=c < columns)
    w = tl.load(w_ptr + c, mask=c < columns)
    tl.store(y_ptr + row * columns + c, x * w, mask=c < columns)


@triton.jit
def weight_kernel(g_ptr, x_ptr, y_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r, c = tl.arange(0, ROWS)[:, None], tl.arange(0, BLOCK)[None, :]
    mask = (r < rows) & (c < columns)
    g = tl.load(g_ptr + r * columns + c, mask=mask, other=0.0)
    total = tl.sum(g * tl.load(x_ptr + r * columns + c, mask=mask, other=0.0), axis=0)
    tl.store(y_ptr + tl.arange(0, BLOCK), total, mask=tl.arange(0, BLOCK) < columns)


def scale(x, w):
    x = x.contiguous()
    y = torch.empty_like(x)
    scale_kernel[(x.shape[0],)](x, w, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def summed(g, x):
    y = torch.empty_like(x[0])
    block = triton.next_power_of_2(x.shape[1])
    weight_kernel[(1,)](g, x, y, x.shape[0], x.shape[1], ROWS=512, BLOCK=block)  # and no further
    return y


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return scale(x, w)

    @staticmethod
    def backward(ctx, gradient):
        x, w = ctx.saved_tensors
        gradient = gradient.contiguous()
        return scale(gradient, w), summed(gradient, x)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(features) + 0.5)

    def forward(self, x):
        return Scale.apply(x, self.weight)
