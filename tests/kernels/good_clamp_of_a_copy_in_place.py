# verified [twin of D11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.clamp(x.t(), -1.5, 1.5)


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []


@triton.jit
def relu_kernel(y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.minimum(tl.maximum(y, -1.5), 1.5), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = x.t().clone(memory_format=torch.contiguous_format)
        relu_kernel[(triton.cdiv(y.numel(), 256),)](y, y.numel(), BLOCK=256)
        return y
