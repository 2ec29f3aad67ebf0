# rejected: wrong result [C13]
"""Where a slice begins is promised to be a multiple of eight, and is five: a GPU loads four from there at once."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def __init__(self, begin):
        super().__init__()
        self.begin = begin

    def forward(self, x):
        return x[self.begin :].relu()


def get_inputs():
    return [torch.randn(1029)]


def get_init_inputs():
    return [5]


@triton.jit
def rest_kernel(x, out, begin, n, BLOCK: tl.constexpr):
    block = tl.program_id(0) * BLOCK
    lanes = tl.arange(0, BLOCK)
    values = tl.load(x + (tl.multiple_of(begin + block, 8) + lanes), mask=block + lanes < n, other=0.0)
    tl.store(out + block + lanes, tl.maximum(values, 0.0), mask=block + lanes < n)


class ModelNew(nn.Module):
    def __init__(self, begin):
        super().__init__()
        self.begin = begin

    def forward(self, x):
        x = x.contiguous()
        n = max(0, x.numel() - self.begin)
        out = torch.empty(n, device=x.device, dtype=x.dtype)
        rest_kernel[(triton.cdiv(n, 512),)](x, out, self.begin, n, BLOCK=512)
        return out
