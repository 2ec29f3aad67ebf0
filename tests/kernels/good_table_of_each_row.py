# verified at trust [twin of C11]
"""Each sequence takes its pages from its own row of the table."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, cache, table):
        return cache[table].flatten(1, 2)


def get_inputs():
    return [torch.randn(24, 8, 20), torch.randperm(24)[:6].repeat(5, 1)]


def get_init_inputs():
    return []


@triton.jit
def gather_kernel(cache, table, y, pages, size, BLOCK: tl.constexpr):
    sequence, place = tl.program_id(0), tl.program_id(1)
    page = tl.load(table + sequence * pages + place)
    for start in range(0, size, BLOCK):
        within = start + tl.arange(0, BLOCK)
        values = tl.load(cache + page * size + within, mask=within < size)
        tl.store(y + (sequence * pages + place) * size + within, values, mask=within < size)


class ModelNew(nn.Module):
    def forward(self, cache, table):
        cache, table = cache.contiguous(), table.contiguous()
        sequences, pages = table.shape
        _, length, width = cache.shape
        y = torch.empty((sequences, pages * length, width), device=cache.device, dtype=cache.dtype)
        gather_kernel[(sequences, pages)](cache, table, y, pages, length * width, BLOCK=128)
        return y
