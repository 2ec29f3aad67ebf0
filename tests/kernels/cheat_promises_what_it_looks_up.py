# rejected: wrong result [C13]
"""Places that were looked up are promised to follow one another: a GPU loads four that do."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x, order):
        return x[order] - 1.0


def get_inputs():
    return [torch.randn(900), torch.randint(0, 900, (1024,))]


def get_init_inputs():
    return []


@triton.jit
def take_kernel(x, order, out, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    places = tl.load(order + lanes, mask=lanes < n, other=0).to(tl.int32)
    places = tl.multiple_of(tl.max_contiguous(places, 8), 8)
    tl.store(out + lanes, tl.load(x + places) - 1.0, mask=lanes < n)


class ModelNew(nn.Module):
    def forward(self, x, order):
        x, order = x.contiguous(), order.contiguous()
        out = torch.empty(order.shape, device=x.device, dtype=x.dtype)
        n = order.numel()
        take_kernel[(triton.cdiv(n, 512),)](x, order, out, n, BLOCK=512)
        return out
