# verified [twin of C12]
"""A row is folded in whatever order suits the compiler, and all of it is added up, part after part."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.sum(-1)


def get_inputs():
    return [torch.randn(24, 128)]


def get_init_inputs():
    return []


@triton.jit
def fold_kernel(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + columns, mask=columns < n, other=0.0)
    sums = tl.sum(tl.reshape(values, (BLOCK // 4, 4), can_reorder=True), 1)
    tl.store(out + row, tl.sum(sums, 0))


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, n = x.shape
        out = torch.empty(rows, device=x.device, dtype=x.dtype)
        fold_kernel[(rows,)](x, out, n, BLOCK=max(4, triton.next_power_of_2(n)))
        return out
