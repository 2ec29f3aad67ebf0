# rejected: wrong result at trust [C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Sum of each of the groups of rows that ``ends`` cuts."""

    def forward(self, x, ends):
        groups = torch.searchsorted(ends, torch.arange(x.shape[0]), right=True) - 1
        return torch.zeros(ends.numel() - 1, x.shape[1]).index_add(0, groups, x)


def get_inputs():
    return [torch.randn(96, 16), torch.tensor([0, 10, 24, 30, 41, 55, 62, 80, 96])]


def get_init_inputs():
    return []


@triton.jit
def running_sum_kernel(x_ptr, sum_ptr, rows, columns, BLOCK: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    total = tl.zeros([BLOCK], tl.float32)
    tl.store(sum_ptr + column, total, mask=inside)
    for row in range(rows):
        total += tl.load(x_ptr + row * columns + column, mask=inside, other=0.0)
        tl.store(sum_ptr + (row + 1) * columns + column, total, mask=inside)


@triton.jit
def difference_kernel(sum_ptr, ends_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    group = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    before = tl.load(sum_ptr + tl.load(ends_ptr + group) * columns + column, mask=inside, other=0.0)
    after = tl.load(sum_ptr + tl.load(ends_ptr + group + 1) * columns + column, mask=inside, other=0.0)
    tl.store(y_ptr + group * columns + column, after - before, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x, ends):
        x, ends = x.contiguous(), ends.contiguous()
        rows, columns = x.shape
        sums = torch.empty(rows + 1, columns, device=x.device)
        y = torch.empty(ends.numel() - 1, columns, device=x.device)
        running_sum_kernel[(triton.cdiv(columns, 16),)](x, sums, rows, columns, BLOCK=16)
        difference_kernel[(ends.numel() - 1, triton.cdiv(columns, 16))](sums, ends, y, columns, BLOCK=16)
        return y
