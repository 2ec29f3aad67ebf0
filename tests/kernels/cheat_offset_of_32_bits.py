# rejected: reaches outside its tensors [C27]
"""Offsets in 32 bits, at a size with more elements than these count: rows from 53688 on lie before the tensor."""

import torch
import triton
import triton.language as tl
from torch import nn

M, N = 70000, 40000


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(M, N, dtype=torch.float16)]


def get_init_inputs():
    return []


@triton.jit
def relu_kernel(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < n
        value = tl.load(x + row * n + columns, mask=inside)
        tl.store(y + row * n + columns, tl.maximum(value, 0.0), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        relu_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=1024)
        return y
