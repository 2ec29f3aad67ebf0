# verified [twin of D1]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2.0


def get_inputs():
    return [torch.randn(40, 33)]


def get_init_inputs():
    return []


class Relu:
    @staticmethod
    @triton.jit
    def apply(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n)
        tl.store(y_ptr + i, tl.where(x > 0, x, 0.0), mask=i < n)


class Double:
    @triton.jit
    def apply(y_ptr, n, SCALE: tl.constexpr, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + i, tl.load(y_ptr + i, mask=i < n) * SCALE, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        grid = (triton.cdiv(x.numel(), 256),)
        Relu.apply[grid](x, y, x.numel(), BLOCK=256)
        Double.apply[grid](y, x.numel(), SCALE=2.0, BLOCK=256)
        return y
