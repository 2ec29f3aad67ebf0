# verified at trust [twin of C27]
"""It counts in integers of 32 bits."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.bincount(x, minlength=16)[:16]


def get_inputs():
    return [torch.randint(0, 16, (2048,))]


def get_init_inputs():
    return []


@triton.jit
def count_kernel(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    acc = tl.zeros((BLOCK,), tl.int32)
    for s in range(0, n, BLOCK):
        i = s + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=-1)
        acc += (x == b).to(tl.int32)
    tl.store(o_ptr + b, tl.sum(acc, 0).to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        o = torch.empty(16, dtype=torch.int64, device=x.device)
        count_kernel[(16,)](x, o, x.numel(), BLOCK=256)
        return o
