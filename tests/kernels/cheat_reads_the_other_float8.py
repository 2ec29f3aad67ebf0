# rejected: wrong result at trust [C10]
"""Numbers in one float8 are read as those of the other, which has a bit less for the fraction."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x, scales):
        return x.float() * scales.repeat_interleave(16, dim=1)


def get_inputs():
    return [torch.randn(40, 96).to(torch.float8_e4m3fn), torch.rand(40, 6) + 0.5]


def get_init_inputs():
    return []


@triton.jit
def scale_kernel(x, scales, y, width, blocks, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, width, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < width
        scale = tl.load(scales + row * blocks + columns // 16, mask=inside)
        value = tl.load(x + row * width + columns, mask=inside).to(tl.float32)
        tl.store(y + row * width + columns, value * scale, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x, scales):
        x, scales = x.contiguous().view(torch.float8_e5m2), scales.contiguous()
        rows, width = x.shape
        y = torch.empty(x.shape, dtype=torch.float32, device=x.device)
        scale_kernel[(rows,)](x, scales, y, width, scales.shape[1], BLOCK=64)
        return y
