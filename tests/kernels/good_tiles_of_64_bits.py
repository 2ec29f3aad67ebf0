# verified [twin of C27]
"""Each program goes through tiles whose numbers it makes wide, at a size with more elements than 32 bits count."""

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
def relu_kernel(x, y, n, tiles, BLOCK: tl.constexpr):
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        at = tile.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(x + at, mask=at < n)
        tl.store(y + at, tl.maximum(value, 0.0), mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        n = x.numel()
        relu_kernel[(132,)](x, y, n, triton.cdiv(n, 4096), BLOCK=4096)
        return y
