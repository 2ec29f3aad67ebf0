# verified [twin of C27]
"""A stride that the kernel takes as one of 64 bits, at a size with more elements than 32 bits count."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(60000, 40000, dtype=torch.float16)]


def get_init_inputs():
    return []


@triton.jit
def relu_kernel(x, y, n, stride: tl.int64, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, n, BLOCK):
        at = row * stride + start + tl.arange(0, BLOCK)
        inside = start + tl.arange(0, BLOCK) < n
        value = tl.load(x + at, mask=inside)
        tl.store(y + at, tl.maximum(value, 0.0), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        relu_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=1024)
        return y
