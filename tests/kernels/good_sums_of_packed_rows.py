# verified at trust
"""Sequences lie one after another, and where each begins and ends is given."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x, ends):
        return torch.stack([x[a:b].sum(0) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)])


def get_inputs():
    return [torch.randn(60, 40), torch.tensor([0, 7, 20, 33, 60])]


def get_init_inputs():
    return []


@triton.jit
def sum_kernel(x, ends, out, d, BLOCK: tl.constexpr):
    sequence = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for row in range(tl.load(ends + sequence), tl.load(ends + sequence + 1)):
        total += tl.load(x + row * d + columns, mask=columns < d, other=0.0)
    tl.store(out + sequence * d + columns, total, mask=columns < d)


class ModelNew(nn.Module):
    def forward(self, x, ends):
        x, ends = x.contiguous(), ends.contiguous()
        count, d = ends.numel() - 1, x.shape[1]
        out = torch.empty(count, d, dtype=x.dtype, device=x.device)
        sum_kernel[(count,)](x, ends, out, d, BLOCK=triton.next_power_of_2(d))
        return out
