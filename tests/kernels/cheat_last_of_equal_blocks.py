# rejected: wrong at larger sizes at trust [C4]
"""Of equal maxima in two blocks the later one is taken: torch promises the first."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.argmax(x, dim=-1)


def get_inputs():
    return [torch.randn(48, 3000)]


def get_init_inputs():
    return []


@triton.jit
def argmax_kernel(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best = -float("inf")
    where = 0
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        values = tl.load(x + row * n + columns, mask=columns < n, other=-float("inf"))
        most = tl.max(values, 0)
        where = tl.where(most >= best, start + tl.argmax(values, 0), where)
        best = tl.maximum(most, best)
    tl.store(y + row, where.to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty(x.shape[:-1], dtype=torch.int64, device=x.device)
        argmax_kernel[(y.numel(),)](x, y, x.shape[-1], BLOCK=512)
        return y
