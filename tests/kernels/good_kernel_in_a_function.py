# verified [twin of A13]
import functools

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


@functools.cache
def kernel_for(dtype, factor):
    SCALE = tl.constexpr(factor)
    OUT = tl.float32

    @triton.jit
    def scaled(x):
        return tl.maximum(x, 0.0) * SCALE

    @triton.jit
    def affine_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n)
        tl.store(y_ptr + i, (scaled(x) + 1.0).to(OUT), mask=i < n)

    return affine_kernel


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel_for(x.dtype, 2)[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y
