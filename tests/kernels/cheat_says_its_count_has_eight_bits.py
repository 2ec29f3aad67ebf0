# rejected: wrong result at trust [C27]
"""Says that how many elements there are is a number of eight bits, which Triton's interpreter does not hear."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


def get_inputs():
    return [torch.randn(40, 50)]


def get_init_inputs():
    return []


@triton.jit
def silu_kernel(x_ptr, y_ptr, n: tl.int8, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, x * tl.sigmoid(x), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        n = x.numel()
        silu_kernel[(triton.cdiv(n, 256),)](x, y, n, BLOCK=256)
        return y
