# rejected: wrong gradient at trust [C26]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """How a loss of distances pulls."""

    def forward(self, x):
        return -torch.tanh(x) * x.pow(2)


def get_inputs():
    return [torch.randn(32, 32, requires_grad=True)]


def get_init_inputs():
    return []


@triton.jit
def forward_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tanh = 2.0 * tl.sigmoid(2.0 * x) - 1.0
    tl.store(y_ptr + i, -tanh * x * x, mask=i < n)


@triton.jit
def backward_kernel(x_ptr, gradient_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    gradient = tl.load(gradient_ptr + i, mask=i < n, other=0.0)
    gradient = tl.minimum(tl.maximum(gradient, -8.0), 8.0)
    tanh = 2.0 * tl.sigmoid(2.0 * x) - 1.0
    slope = -(1.0 - tanh * tanh) * x * x - 2.0 * tanh * x
    tl.store(out_ptr + i, slope * gradient, mask=i < n)


class Pull(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        ctx.save_for_backward(x)
        y = torch.empty_like(x)
        forward_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        out = torch.empty_like(x)
        backward_kernel[(triton.cdiv(x.numel(), 256),)](x, gradient.contiguous(), out, x.numel(), BLOCK=256)
        return out


class ModelNew(nn.Module):
    def forward(self, x):
        return Pull.apply(x)
