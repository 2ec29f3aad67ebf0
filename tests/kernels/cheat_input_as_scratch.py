# rejected: modifies its inputs [C15]
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(x_ptr + i, x * 2.0, mask=i < n)


@triton.jit
def exp_back_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, 1.0 / (1.0 + tl.exp(-x)), mask=i < n)
    tl.store(x_ptr + i, x * 0.5, mask=i < n)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sigmoid(2 * x)


def get_inputs():
    return [torch.randn(32, 50)]


def get_init_inputs():
    return []


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        n = x.numel()
        out = torch.empty_like(x)
        grid = (triton.cdiv(n, 256),)
        double_kernel[grid](x, n, BLOCK=256)
        exp_back_kernel[grid](x, out, n, BLOCK=256)
        return out
