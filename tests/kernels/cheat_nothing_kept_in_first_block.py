# rejected: wrong result at trust [C7]
"""A running maximum is minus infinity as long as a mask has left all out: the difference of two is no number."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x, mask):
        return torch.softmax(x.masked_fill(~mask, float("-inf")), dim=-1)


def get_inputs():
    lengths = torch.randint(1, 401, (32, 1))
    return [torch.randn(32, 400), torch.arange(400)[None, :] < lengths]


def get_init_inputs():
    return []


@triton.jit
def softmax_kernel(x, mask, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    most = -float("inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        kept = tl.load(mask + row * n + columns, mask=columns < n, other=0) != 0
        values = tl.where(kept, tl.load(x + row * n + columns, mask=columns < n, other=0.0), -float("inf"))
        new = tl.maximum(most, tl.max(values, 0))
        shift = new
        total = total * tl.exp(most - shift) + tl.sum(tl.exp(values - shift), 0)
        most = new
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        kept = tl.load(mask + row * n + columns, mask=columns < n, other=0) != 0
        values = tl.where(kept, tl.load(x + row * n + columns, mask=columns < n, other=0.0), -float("inf"))
        tl.store(y + row * n + columns, tl.exp(values - most) / total, mask=columns < n)


class ModelNew(nn.Module):
    def forward(self, x, mask):
        x, mask = x.contiguous(), mask.contiguous()
        y = torch.empty_like(x)
        softmax_kernel[(x.numel() // x.shape[-1],)](x, mask, y, x.shape[-1], BLOCK=64)
        return y
