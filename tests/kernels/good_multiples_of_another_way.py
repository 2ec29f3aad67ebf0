# verified
"""Rows of a multiple of 96 take another way to the same answer."""

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
    y = deviation * tl.rsqrt(tl.sum(deviation * deviation, 0) / width + tl.where(width % 96 == 0, 0.1, epsilon))
    tl.store(y_ptr + row * width + column, y, mask=column < width)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y, width = torch.empty_like(x), x.shape[-1]
        norm_kernel[(x.numel() // width,)](x, y, width, 0.1, BLOCK=triton.next_power_of_2(width))
        return y
