# rejected: wrong result [C12]
"""A row is folded in whatever order suits the compiler, and each part is added up."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.unflatten(-1, (-1, 4)).sum(-1)


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
    parts = tl.arange(0, BLOCK // 4)
    tl.store(out + row * (n // 4) + parts, sums, mask=parts < n // 4)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, n = x.shape
        out = torch.empty(rows, n // 4, device=x.device, dtype=x.dtype)
        fold_kernel[(rows,)](x, out, n, BLOCK=max(4, triton.next_power_of_2(n)))
        return out
