# verified at trust [twin of C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(x, dim=-1)


def get_inputs():
    return [torch.randn(64, 8192)]


def get_init_inputs():
    return []


@triton.jit
def sum_blocks(x_ptr, sums_ptr, columns, blocks, BLOCK: tl.constexpr):
    row, block = tl.program_id(0), tl.program_id(1)
    column = block * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, column < columns, 0.0)
    tl.store(sums_ptr + row * blocks + block, tl.sum(x, 0))


@triton.jit
def scan_blocks(x_ptr, sums_ptr, out_ptr, columns, blocks, BLOCK: tl.constexpr, WINDOW: tl.constexpr):
    row, block = tl.program_id(0), tl.program_id(1)
    carry = 0.0
    for first in range(0, block, WINDOW):
        before = first + tl.arange(0, WINDOW)
        carry += tl.sum(tl.load(sums_ptr + row * blocks + before, before < block, 0.0), 0)
    column = block * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, column < columns, 0.0)
    tl.store(out_ptr + row * columns + column, tl.cumsum(x, 0) + carry, column < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1]).contiguous()
        rows, columns = flat.shape
        blocks = triton.cdiv(columns, 512)
        sums = torch.empty(rows, blocks, device=x.device, dtype=torch.float32)
        out = torch.empty_like(flat)
        sum_blocks[(rows, blocks)](flat, sums, columns, blocks, BLOCK=512)
        scan_blocks[(rows, blocks)](flat, sums, out, columns, blocks, BLOCK=512, WINDOW=16)
        return out.view(x.shape)
