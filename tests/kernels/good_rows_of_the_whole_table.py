# verified at trust [twin of C8]
"""It takes any row that the table has."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, table, rows):
        return torch.exp(table[rows])


def get_inputs():
    return [torch.randn(64, 33), torch.randint(0, 16, (24,))]


def get_init_inputs():
    return []


@triton.jit
def rows_kernel(table_ptr, rows_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.load(rows_ptr + tl.program_id(0))
    t = tl.load(table_ptr + row * n + i, mask=(i < n), other=0.0)
    tl.store(y_ptr + tl.program_id(0) * n + i, tl.exp(t), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, table, rows):
        table, rows, n = table.contiguous(), rows.contiguous(), table.shape[-1]
        y = torch.empty(rows.shape[0], n, device=table.device)
        rows_kernel[(rows.shape[0],)](table, rows, y, n, BLOCK=triton.next_power_of_2(n))
        return y
