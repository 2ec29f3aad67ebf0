# verified [twin of C27]
"""A hash runs over 32 bits, as it is meant to; offsets are of 64 at a size with more elements than 32 bits count."""

import torch
import triton
import triton.language as tl
from torch import nn

M, N = 60000, 40000


class Model(nn.Module):
    def forward(self, x):
        columns = torch.arange(x.shape[1], dtype=torch.int32, device=x.device)
        return x * (((columns * 1103515245 + 12345) >> 16) & 1)


def get_inputs():
    return [torch.randn(M, N, dtype=torch.float16)]


def get_init_inputs():
    return []


@triton.jit
def thin_kernel(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < n
        kept = ((columns * 1103515245 + 12345) >> 16) & 1
        value = tl.load(x + row * n + columns, mask=inside)
        tl.store(y + row * n + columns, value * kept.to(value.dtype), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        thin_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=1024)
        return y
