# verified [twin of C12]
"""The last lane that counts is found, and its value alone is stored."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        places = torch.arange(x.shape[-1], device=x.device)
        last = torch.where(x > 0, places, -1).amax(-1, keepdim=True)
        return torch.where(last < 0, 0.0, x.gather(-1, last.clamp(min=0)))[:, 0]


def get_inputs():
    return [torch.randn(24, 100)]


def get_init_inputs():
    return []


@triton.jit
def last_kernel(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + columns, mask=columns < n, other=0.0)
    last = tl.max(tl.where(values > 0, columns, -1), 0)
    tl.store(out + row, tl.sum(tl.where(columns == last, values, 0.0), 0))


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, n = x.shape
        out = torch.zeros(rows, device=x.device, dtype=x.dtype)
        last_kernel[(rows,)](x, out, n, BLOCK=triton.next_power_of_2(n))
        return out
