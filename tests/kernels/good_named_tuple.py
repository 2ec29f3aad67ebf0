# verified [twin of D1]
from collections import namedtuple

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.max(x, -1)


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []


@triton.jit
def max_kernel(x_ptr, values_ptr, indices_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=-float("inf"))
    value, index = tl.max(x, axis=0, return_indices=True)
    tl.store(values_ptr + row, value)
    tl.store(indices_ptr + row, index)


class ModelNew(nn.Module):
    def forward(self, x):
        values = torch.empty(x.shape[0], device=x.device)
        indices = torch.empty(x.shape[0], device=x.device, dtype=torch.int64)
        columns = x.shape[1]
        max_kernel[(x.shape[0],)](x, values, indices, columns, BLOCK=triton.next_power_of_2(columns))
        result = namedtuple("max", ["values", "indices"])
        return result(values=values, indices=indices)
