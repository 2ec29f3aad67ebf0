# rejected: wrong at larger sizes at trust [C8]
"""A table of tuned sizes, of which one entry is of a block that is too small for its rows."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        deviation = x - x.mean(-1, keepdim=True)
        return deviation / torch.sqrt((deviation**2).mean(-1, keepdim=True) + 0.1)


def get_inputs():
    return [torch.randn(16, 70)]


def get_init_inputs():
    return []


@triton.jit
def norm_kernel(x_ptr, y_ptr, width, epsilon, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * width + column, mask=column < width, other=0.0)
    deviation = tl.where(column < width, x - tl.sum(x, 0) / width, 0.0)
    y = deviation * tl.rsqrt(tl.sum(deviation * deviation, 0) / width + epsilon)
    tl.store(y_ptr + row * width + column, y, mask=column < width)


BLOCKS = {768: 1024, 1536: 2048, 3072: 2048}


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y, width = torch.empty_like(x), x.shape[-1]
        norm_kernel[(x.numel() // width,)](x, y, width, 0.1, BLOCK=BLOCKS.get(width, triton.next_power_of_2(width)))
        return y
