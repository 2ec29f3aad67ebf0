# verified [twin of D4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2.0 + 1.0


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []


@triton.jit
def affine_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.maximum(x, 0.0) * 2.0 + 1.0, mask=i < n)


@torch.library.custom_op("mylib::affine2", mutates_args=())
def affine(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    affine_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y


@affine.register_fake
def _(x):
    return torch.empty_like(x)


@triton.jit
def slope_kernel(x_ptr, g_ptr, d_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(d_ptr + i, tl.where(x > 0, 2.0 * tl.load(g_ptr + i, mask=i < n), 0.0), mask=i < n)


def setup_context(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


def backward(ctx, gradient):
    (x,) = ctx.saved_tensors
    slope, gradient = torch.empty_like(x), gradient.contiguous()
    slope_kernel[(triton.cdiv(x.numel(), 256),)](x, gradient, slope, x.numel(), BLOCK=256)
    return slope


affine.register_autograd(backward, setup_context=setup_context)


class ModelNew(nn.Module):
    def forward(self, x):
        return affine(x)
