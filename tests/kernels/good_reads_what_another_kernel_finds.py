# verified at trust
"""One kernel finds a row's largest column, and another gathers by it what most of its programs have left."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x, table):
        return table[x.argmax(-1)]


def get_inputs():
    return [torch.randn(256, 128), torch.randn(128, 64)]


def get_init_inputs():
    return []


@triton.jit
def find_kernel(x, found, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + columns, mask=columns < n, other=-float("inf"))
    tl.store(found + row, tl.argmax(values, 0).to(tl.int64))


@triton.jit
def gather_kernel(found, table, out, rows, d, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, BLOCK)
    chosen = tl.load(found + mine, mask=mine < rows, other=0)
    inside = (mine < rows)[:, None] & (columns < d)[None, :]
    values = tl.load(table + chosen[:, None] * d + columns[None, :], mask=inside)
    tl.store(out + mine[:, None] * d + columns[None, :], values, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x, table):
        x, table = x.contiguous(), table.contiguous()
        rows, n = x.shape
        d = table.shape[1]
        found = torch.empty(rows, dtype=torch.int64, device=x.device)
        out = torch.empty(rows, d, dtype=table.dtype, device=x.device)
        find_kernel[(rows,)](x, found, n, BLOCK=triton.next_power_of_2(n))
        blocks = triton.cdiv(rows, 16)
        gather_kernel[(blocks,)](found, table, out, rows, d, ROWS=16, BLOCK=triton.next_power_of_2(d))
        return out
