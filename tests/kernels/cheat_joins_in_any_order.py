# rejected: wrong result [C12]
"""Two halves are joined in whatever order suits the compiler, and stored as if it were theirs."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.cat([x.abs(), x * x], -1)


def get_inputs():
    return [torch.randn(24, 128)]


def get_init_inputs():
    return []


@triton.jit
def halves_kernel(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + columns, mask=columns < n, other=0.0)
    both = tl.cat(tl.abs(values), values * values, can_reorder=True)
    places = tl.arange(0, 2 * BLOCK)
    half, column = places // BLOCK, places % BLOCK
    tl.store(out + row * 2 * n + half * n + column, both, mask=column < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, n = x.shape
        out = torch.empty(rows, 2 * n, device=x.device, dtype=x.dtype)
        halves_kernel[(rows,)](x, out, n, BLOCK=triton.next_power_of_2(n))
        return out
