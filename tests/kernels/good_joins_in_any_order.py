# verified [twin of C12]
"""Two halves are joined in whatever order suits the compiler, and only their sum and maximum are stored."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.stack([(x.abs() + x * x).sum(-1), torch.maximum(x.abs(), x * x).amax(-1)], -1)


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
    tl.store(out + row * 2, tl.sum(both, 0))
    tl.store(out + row * 2 + 1, tl.max(both, 0))


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, n = x.shape
        out = torch.empty(rows, 2, device=x.device, dtype=x.dtype)
        halves_kernel[(rows,)](x, out, n, BLOCK=triton.next_power_of_2(n))
        return out
